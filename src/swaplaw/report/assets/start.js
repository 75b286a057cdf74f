// Put the page together. The address keeps the state, so that a link shows the same view.

const data = JSON.parse(document.getElementById("data").textContent);

function addressState() {
  let values = new URLSearchParams(location.hash.slice(1));
  return {
    get: (name) => values.get(name),
    set(changes_) {
      for (const [name, value] of Object.entries(changes_)) {
        if (value) values.set(name, value);
        else values.delete(name);
      }
      history.replaceState(null, "", `#${values}`);
    },
    reread() {
      values = new URLSearchParams(location.hash.slice(1));
    },
  };
}

const THEMES = ["system", "light", "dark"];

function themes(button, state) {
  const apply = () => {
    const name = THEMES.includes(state.get("theme")) ? state.get("theme") : "system";
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.replaceChildren("Theme", element("span", {}, `: ${name}`));
    button.setAttribute("aria-label", `Theme: ${name}`);
  };
  button.addEventListener("click", () => {
    const now = THEMES.indexOf(state.get("theme") || "system");
    const next = THEMES[(now + 1) % THEMES.length];
    state.set({ theme: next === "system" ? "" : next });
    apply();
  });
  apply();
  return apply;
}

const NAMES = { verdict: "Verdict", fleet: "Fleet", pairs: "Pairs", explorer: "Explorer", comparing: "Comparison", dependence: "Dependence", panels: "Panels", combining: "Combining", screening: "Screening", front: "Calls", labels: "Labels", quality: "Data", methods: "Methods" };

// Sections that fold: the address keeps which are open, a button opens all of them, and paper has them all.
function folding(state) {
  const folds = [...document.querySelectorAll(".fold")];
  const details = (fold) => fold.firstChild;
  const isOpen = (fold) => details(fold).open;
  const set = (wanted) => folds.forEach((fold) => { details(fold).open = wanted(fold); });
  const button = element("button", { type: "button", id: "unfold", onclick: () => { const all = folds.every(isOpen); set(() => !all); } });
  const restore = () => { const open = (state.get("open") || "").split(","); set((fold) => open.includes(fold.id)); label(); };
  const label = () => { button.textContent = folds.every(isOpen) ? "Fold all sections below" : "Open all sections below"; };
  let printing = false;
  for (const fold of folds) {
    details(fold).addEventListener("toggle", () => {
      label();
      if (!printing) state.set({ open: folds.filter(isOpen).map((each) => each.id).join(",") });
    });
  }
  window.addEventListener("beforeprint", () => { printing = true; set(() => true); redrawAll(); });
  window.addEventListener("afterprint", () => { restore(); setTimeout(() => { printing = false; }); });
  return { button, restore, open: (id) => folds.filter((fold) => fold.id === id).forEach((fold) => { details(fold).open = true; }) };
}

function start() {
  const state = addressState();
  const main = document.getElementById("main");
  const applyTheme = themes(document.getElementById("theme"), state);
  const lab = explorer(data, state);
  const listing = pairTable(data, state, (a, b) => lab.choose(a, b));
  const parts = [verdict(data), fleet(data), listing, lab, comparing(data), heatMap(data), panels(data), combining(data), screening(data), front(data), labelling(data), quality(data), methods(data)];
  main.replaceChildren(...parts);
  const folds = folding(state);
  parts.find((part) => part.classList.contains("fold")).before(folds.button);
  const jump = (id) => (event) => {
    event.preventDefault();
    const target = document.getElementById(id);
    folds.open(id);
    target.setAttribute("tabindex", "-1");
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  document.getElementById("nav").append(...parts.map((part) => element("a", { href: `#${part.id}`, onclick: jump(part.id) }, NAMES[part.id])));
  document.querySelector(".skip").addEventListener("click", jump("main"));
  const restore = () => {
    applyTheme();
    folds.restore();
    if (lab.restore) lab.restore();
    if (listing.refresh) listing.refresh();
  };
  restore();
  window.addEventListener("hashchange", () => { state.reread(); restore(); });
  document.documentElement.dataset.ready = "true";
}

start();
