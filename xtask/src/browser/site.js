// Looks a page of a site over from within: what is wrong with it as words, its links, and the places that links can lead to.
(() => {
  const problems = [];
  for (const image of document.images) {
    if (!image.complete || image.naturalWidth === 0) problems.push(`image not loaded: ${image.src}`);
    if (!image.alt && image.getAttribute("role") !== "presentation") problems.push(`image without words: ${image.src}`);
  }
  const main = document.querySelector("[role=main], main");
  if (!main || main.textContent.trim().length < 100) problems.push("hardly a word on the page");
  const titles = main?.querySelectorAll("h1").length;
  if (titles !== 1) problems.push(`${titles} titles`);
  if (!document.documentElement.lang) problems.push("no language");
  const screen = document.documentElement.clientWidth;
  const wide = document.documentElement.scrollWidth - screen;
  if (wide > 0) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let beyond = "";
    while (walker.nextNode() && !beyond) {
      if (walker.currentNode.parentElement.closest("pre, .wy-table-responsive")) continue;
      range.selectNode(walker.currentNode);
      if (range.getBoundingClientRect().right > screen) beyond = walker.currentNode.data.trim().slice(0, 60);
    }
    problems.push(`${wide} pixels wider than the screen: ${beyond}`);
  }
  return {
    problems,
    pictures: document.images.length,
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    places: [...document.querySelectorAll("[id]")].map((element) => element.id),
  };
})()
