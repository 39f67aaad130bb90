// A table that is scrolled sideways on a phone is reached by the keyboard, too.
for (const table of document.querySelectorAll(".rst-content table")) table.tabIndex = 0;
