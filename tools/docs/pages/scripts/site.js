// The buttons at code blocks are in elements `nav` without names. They are no landmarks of a page.
new MutationObserver(() => {
  for (const element of document.querySelectorAll(".md-code__nav:not([role])")) element.setAttribute("role", "none");
}).observe(document.body, { childList: true, subtree: true });
