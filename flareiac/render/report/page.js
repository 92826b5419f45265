"use strict";
(() => {
  const filters = document.querySelector(".filters");
  const cards = [...document.querySelectorAll("main [data-type]")];
  const text = document.getElementById("by-text");
  const choices = ["effects", "owners", "type"].map((name) => [name, document.getElementById(`by-${name}`)]);
  const shown = document.getElementById("shown");
  let indexed = null;

  // Members are looked for once: a search in each card takes longer the more cards there are.
  const membersByCard = new Map();
  for (const member of document.querySelectorAll("main .addresses > li")) {
    const card = member.closest("[data-type]");
    if (!membersByCard.has(card)) membersByCard.set(card, []);
    membersByCard.get(card).push(member);
  }

  // Texts are read once, when they are first asked for.
  const index = () => indexed ||= cards.map((card) => {
    const members = membersByCard.get(card) || [];
    const names = members.map((member) => member.textContent.toLowerCase());
    let rest = card.textContent.toLowerCase();
    if (members.length) {
      const list = members[0].parentNode.textContent.toLowerCase();
      rest = rest.replace(list, "\n");
    }
    const held = {};
    for (const name of ["effects", "owners", "type"]) held[name] = (card.dataset[name] || "").split("\n");
    return { card, members, names, rest, held, grave: !!card.closest(".destructive, .blocked") };
  });

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = choices.filter(([, select]) => select && select.value);
    let visible = 0, all = 0, hidden = 0;
    for (const { card, members, names, rest, held, grave } of index()) {
      const size = members.length || 1;
      const fits = chosen.every(([name, select]) => held[name].includes(select.value));
      const left = words.filter((word) => !rest.includes(word));
      let count = fits ? size : 0;
      if (members.length) {
        let matching = 0;
        members.forEach((member, at) => {
          member.hidden = !left.every((word) => names[at].includes(word));
          matching += !member.hidden;
        });
        if (fits) count = matching;
        if (left.length && count) card.open = true;
      } else if (left.length) {
        count = 0;
      }
      card.hidden = !count;
      all += size;
      visible += count;
      if (grave) hidden += size - count;
    }
    for (const section of document.querySelectorAll("main > section.filtered")) {
      section.hidden = !section.querySelector("[data-type]:not([hidden])");
    }
    const number = (value) => value.toLocaleString("en");
    shown.textContent = `Shown: ${visible === all ? "all" : `${number(visible)} of`} ${number(all)}`;
    if (hidden) {
      const warning = document.createElement("b");
      warning.className = "grave";
      warning.textContent = `; hidden: ${number(hidden)} destructive or blocked`;
      shown.append(warning);
    }
  };

  const clear = () => {
    text.value = "";
    for (const [, select] of choices) if (select) select.value = "";
    filter();
  };

  const jump = () => {
    let name;
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = name && document.getElementById(name);
    if (!target) return;
    if (filters && target.closest("[hidden]")) clear();
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    const head = target.querySelector(":scope > summary") || target;
    if (head.tagName !== "SUMMARY") head.tabIndex = -1;
    target.scrollIntoView({ block: "start", behavior: "instant" });
    head.focus({ preventScroll: true });
  };

  const step = (by) => {
    const heads = [...document.querySelectorAll("main .card:not([hidden]) > summary")]
      .filter((head) => !head.closest("section[hidden]"));
    const at = heads.indexOf(document.activeElement);
    const next = heads[at < 0 ? (by > 0 ? 0 : heads.length - 1) : at + by];
    if (next) next.focus();
  };

  const open = (is) => {
    for (const card of document.querySelectorAll("main details.card:not([hidden])")) card.open = is;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const typing = event.target.closest("input, select");
    if (event.key === "Escape" && typing) { if (typing === text) clear(); typing.blur(); return; }
    if (typing) return;
    const act = { "/": () => text && text.focus(), j: () => step(1), k: () => step(-1), e: () => open(true), c: () => open(false) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  for (const svg of document.querySelectorAll(".picture svg")) {
    const choose = (event) => {
      const node = event.type === "pointerleave" || event.type === "focusout" ? null : event.target.closest(".node");
      svg.classList.toggle("chosen", !!node);
      for (const old of svg.querySelectorAll(".near")) old.classList.remove("near");
      if (!node) return;
      const near = new Set([node.dataset.node]);
      for (const path of svg.querySelectorAll("[data-ends]")) {
        const ends = path.dataset.ends.split(" ");
        if (ends.includes(node.dataset.node)) { path.classList.add("near"); ends.forEach((end) => near.add(end)); }
      }
      for (const each of svg.querySelectorAll(".node")) each.classList.toggle("near", near.has(each.dataset.node));
    };
    for (const type of ["pointerover", "pointerleave", "focusin", "focusout"]) svg.addEventListener(type, choose);
  }

  if (filters) {
    filters.hidden = false;
    for (const name of ["expand", "collapse"]) document.getElementById(name).hidden = !document.querySelector("details.card");
    text.addEventListener("input", filter);
    for (const [, select] of choices) if (select) select.addEventListener("change", filter);
    document.getElementById("expand").addEventListener("click", () => open(true));
    document.getElementById("collapse").addEventListener("click", () => open(false));
    document.getElementById("clear").addEventListener("click", clear);
  }
  addEventListener("hashchange", jump);
  // Following the same link again changes no address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) jump();
  });
  // Later than the browser's own jump, which takes the focus away.
  if (location.hash) addEventListener("load", () => requestAnimationFrame(jump));
})();
