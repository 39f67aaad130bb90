"use strict";
(() => {
  const dialog = document.getElementById("enlarged");
  const stage = dialog.querySelector(".stage");
  const status = dialog.querySelector("[role=status]");
  let picture, home, scale;

  // The picture itself moves into the dialog and back: a copy would repeat its identifiers.
  const show = (next) => {
    const box = picture.viewBox.baseVal;
    const fit = Math.min((stage.clientWidth - 8) / box.width, (stage.clientHeight - 8) / box.height);
    const centre = [stage.scrollLeft + stage.clientWidth / 2, stage.scrollTop + stage.clientHeight / 2].map((v) => v / (scale || 1));
    scale = next === "fit" ? fit : Math.min(8, Math.max(fit / 2, next));
    picture.style.width = `${box.width * scale}px`;
    stage.scrollTo(centre[0] * scale - stage.clientWidth / 2, centre[1] * scale - stage.clientHeight / 2);
    status.textContent = `${Math.round(100 * scale)} %`;
  };

  document.querySelectorAll("button[data-enlarge]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      home = document.querySelector(`#${CSS.escape(button.dataset.enlarge)} .picture`);
      picture = home.querySelector("svg");
      home.style.minHeight = `${home.offsetHeight}px`;
      stage.classList.toggle("paper", home.classList.contains("paper"));
      stage.append(picture);
      dialog.showModal();
      scale = undefined;
      show("fit");
    });
  });
  dialog.querySelectorAll("button[data-scale]").forEach((button) => {
    const factors = { in: 1.4, out: 1 / 1.4 };
    button.addEventListener("click", () => show(button.dataset.scale === "fit" ? "fit" : scale * factors[button.dataset.scale]));
  });
  dialog.addEventListener("close", () => {
    picture.style.width = "";
    home.append(picture);
    home.style.minHeight = "";
  });
})();
