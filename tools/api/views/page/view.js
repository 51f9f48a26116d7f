// A view of one graph of a page: its drawing, the details of an item, and the trail of the bodies that are entered.

class View {
  // `parts` has the elements `canvas`, `details` and `trail`. `actions` may have selected(item), toggled(group) and refreshed(), which
  // run after a reader chose an item, folded or unfolded a group, or entered or left a body, and entering(node, index of a body) and
  // leaving(index in the trail), which run before.
  constructor(parts, description, actions = {}) {
    this.parts = parts;
    this.description = description;
    this.actions = actions;
    this.trail = [];  // the graphs around the one that is drawn, and that one; bodies have the `node` and `index` of their operation
    this.drawing = new Drawing(parts.canvas, {
      show: (item) => this.show(item),
      jump: (item) => this.reveal(item.node),
      toggle: (group) => this.toggle(group),
    });
    this.details = new Details(parts.details, {
      reveal: (node) => this.reveal(node),
      enter: (node, index) => this.enter(node, index),
    });
    this.open(description.graph.name || "graph", new GraphModel(description.graph));
  }

  get model() {
    return this.trail[this.trail.length - 1].model;
  }

  // Marks an item and shows its details.
  present(item) {
    this.drawing.mark(item);
    if (item.items) this.details.showGroup(this.model, item);
    else this.details.showNode(this.model, item.node);
  }

  show(item) {
    this.present(item);
    this.actions.selected?.(item);
  }

  setOpen(group, isOpen) {
    group.isOpen = isOpen;
    this.model.forgetLayout(group);
    this.drawing.render(this.model);
  }

  toggle(group) {
    this.setOpen(group, !group.isOpen);
    this.drawing.focus(group);
    this.actions.toggled?.(group);
  }

  // Unfolds the groups around an item, unless they are unfolded.
  uncover(item) {
    if (this.drawing.elements.has(item.key)) return;
    this.model.reveal(item);
    this.drawing.render(this.model);
  }

  // Unfolds the groups around an operation, and shows it. The focus moves to it.
  reveal(node) {
    const item = this.model.itemOf.get(node.id);
    if (!item) return;
    this.uncover(item);
    this.show(item);
    this.drawing.focus(item);
  }

  // Shows an operation of the whole graph, or of the graph that is drawn, or nothing for null. Neither moves the focus nor runs
  // `selected`.
  follow(node, isOfWhole = true) {
    if (isOfWhole && this.trail.length > 1) this.leave(0);
    const item = node && this.model.itemOf.get(node.id);
    if (item) {
      this.uncover(item);
      this.present(item);
      this.drawing.scrollTo(item);
    } else {
      this.drawing.mark(null);
      this.showGraph();
    }
  }

  open(title, graphModel, place = {}) {
    this.trail.push({ title, model: graphModel, ...place });
    this.refresh();
  }

  // Draws a body of an operation of the graph that is drawn.
  openBody(node, index) {
    const body = node.bodies[index];
    this.open(`${body.role} of ${node.name || node.operation}`, new GraphModel(body.graph), { node, index });
  }

  enter(node, index) {
    this.actions.entering?.(node, index);
    this.openBody(node, index);
  }

  // Returns to a graph around the one that is drawn.
  leave(index) {
    this.trail.length = index + 1;
    this.refresh();
  }

  refresh() {
    this.parts.trail.replaceChildren(...this.trail.map(({ title }, index) => {
      const button = html("button", { type: "button" }, title);
      if (index === this.trail.length - 1) button.setAttribute("aria-current", "page");
      button.addEventListener("click", () => {
        this.actions.leaving?.(index);
        this.leave(index);
      });
      return button;
    }));
    this.parts.trail.hidden = this.trail.length < 2;
    this.drawing.shown = null;
    this.drawing.render(this.model);
    this.showGraph();
    this.actions.refreshed?.();
  }

  // Shows facts of the whole graph instead of those of an item.
  showGraph() {
    const isWhole = this.trail.length === 1;
    this.details.showModel(this.model, isWhole ? this.description.costs : undefined, isWhole ? this.description.profile : undefined);
  }
}
