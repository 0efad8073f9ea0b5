// The page: what the HTML shows of the last day, for any day. All texts reach the document as text, never as markup.
(() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const SVG = "http://www.w3.org/2000/svg";
  const MEMORY = /(^|\/)MEMORY\.md$/;
  const [STALE, WEEK, MOST_HITS, MOST_REPLACED, MOST_EVENTS, MOST_SESSIONS] = [60, 7, 60, 8, 300, 400];
  const LINES_AT_ONCE = 300; // of memories; those of others are drawn when they come near the window
  const LINE_HEIGHT = 27; // pixels, of a line not drawn yet
  const [MOST_SAVES, PERIOD] = [40, 10000]; // of the address, in milliseconds: browsers refuse more
  const liveOf = (root) => root.documentElement.dataset.live; // the state of the log that a served page shows
  const token = new URLSearchParams(location.search).get("token") || "";

  let page, last, state, live = liveOf(document), current = null, corpus = null, asking = null;

  // ---------------------------------------------------------------- small helpers

  function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === undefined || value === "") continue;
      if (name === "click") made.addEventListener("click", value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== undefined && child !== ""));
    return made;
  }

  function svg(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

  function dayName(day) {
    if (!day) return "no day";
    const when = new Date(`${day}T00:00:00Z`);
    return `${DAYS[when.getUTCDay()]} ${when.getUTCDate()} ${MONTHS[when.getUTCMonth()]} ${when.getUTCFullYear()}`;
  }
  const dayNumber = (day) => Math.round(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) / 86400000);
  const upTo = (day) => { // the last position whose day is not later
    let [low, high] = [0, page.days.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (page.days[middle] <= day) low = middle; else high = middle - 1;
    }
    return low;
  };

  function toast(text) {
    const place = $(".toast");
    place.textContent = text;
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => { place.textContent = ""; }, 4000);
  }

  // ---------------------------------------------------------------- files on a day

  function prepare(data) {
    page = data;
    last = Math.max(page.days.length - 1, 0);
    corpus = null;
    page.positions = new Map(page.events.map((event, position) => [event.id, position]));
    page.bySession = new Map(); // session -> events
    page.given = new Map(); // event or line -> receipts that show it
    page.receiptsOf = new Map(); // session -> receipts
    page.decisions = new Map(); // event -> the decisions about it
    const add = (map, key, value) => { if (map.has(key)) map.get(key).push(value); else map.set(key, [value]); };
    page.events.forEach((event, position) => {
      if (event.session === undefined) event.session = -1;
      if (event.session >= 0) add(page.bySession, event.session, position);
      if (event.about) add(page.decisions, event.about, position);
    });
    page.receipts.forEach((receipt, position) => {
      (receipt.events || []).forEach((event) => add(page.given, `e${event}`, position));
      (receipt.lines || []).forEach(([file, line]) => add(page.given, `l${file}.${line}`, position));
      add(page.receiptsOf, receipt.session, position);
    });
    page.doubtful = new Map(page.doubts.map(([path, lines]) => [path, new Set(lines)]));
    page.files.forEach((file, position) => {
      file.position = position;
      const days = new Set(file.changes.map(([day]) => day));
      file.lines.forEach((line) => [...line.texts, ...(line.behind || [])].forEach(([day]) => days.add(day)));
      file.touched = [...days].sort((a, b) => a - b);
      file.first = []; // day by line
      file.changes.forEach(([day, hunks]) => hunks.forEach(([, , come]) => come.forEach((line) => { file.first[line] ??= day; })));
      file.cached = { day: -1, next: 0, shown: [] };
    });
  }

  function linesAt(file, day) {
    if (day < file.cached.day) file.cached = { day: -1, next: 0, shown: [] };
    const cached = file.cached;
    for (; cached.next < file.changes.length && file.changes[cached.next][0] <= day; cached.next += 1) {
      const hunks = file.changes[cached.next][1];
      for (let at = hunks.length - 1; at >= 0; at -= 1) cached.shown.splice(hunks[at][0], hunks[at][1], ...hunks[at][2]);
    }
    cached.day = day;
    return cached.shown;
  }

  function textAt(line, day) {
    let found = line.texts[0][1];
    for (const [since, text] of line.texts) if (since <= day) found = text;
    return found;
  }

  function eventsAt(line, day) {
    const found = new Set();
    for (const [at, came, went] of line.behind || []) {
      if (at > day) break;
      went.forEach((event) => found.delete(event));
      came.forEach((event) => found.add(event));
    }
    return [...found].sort((a, b) => a - b);
  }

  function standsBehind(event, line, day) {
    let stands = false;
    for (const [at, came, went] of line.behind || []) {
      if (at > day) break;
      stands = came.includes(event) || (stands && !went.includes(event));
    }
    return stands;
  }

  // ---------------------------------------------------------------- memory

  const kindOf = (text) => text.startsWith("#") ? "head" : text.startsWith("- ") ? "item" : text.startsWith("<!--") ? "note" : "other";

  function isShown(file) {
    if (file.path === state.f) return true;
    if (!MEMORY.test(file.path)) return false;
    const project = page.projects[state.p];
    return !project || file.path === "MEMORY.md" || file.path === `projects/${project.slug}/MEMORY.md`;
  }

  function isItem(file, position) { // a statement, or a line of words with something behind it
    const line = file.lines[position];
    const kind = kindOf(line.texts[0][1]);
    return kind === "item" || (kind === "other" && Boolean(line.texts[0][1] && (line.sessions || line.behind)));
  }

  function row(file, number, position, day, before) {
    const line = file.lines[position];
    const text = textAt(line, day);
    const events = eventsAt(line, day);
    const kind = isItem(file, position) ? "item" : kindOf(text);
    const classes = [kind];
    if (kind === "item") {
      const today = page.days[day];
      const firstDay = file.first[position];
      if (before && !before.has(position)) classes.push("new");
      else if (day - firstDay < WEEK && firstDay > 0) classes.push("week");
      const newest = events.length ? page.events[events[events.length - 1]].at : "";
      if (newest && dayNumber(today) - dayNumber(newest) >= STALE) classes.push("stale");
      if (day === last && page.doubtful.get(file.path)?.has(text)) classes.push("doubt");
    }
    const made = el("li", {
      class: classes.join(" "),
      "data-line": `${file.path}:${number}`,
    });
    made.setAttribute("data-ids", events.map((event) => page.events[event].id).join(" "));
    const [prefix] = text.match(kind === "item" ? /^- (\[[^\]]*\] )?/ : /^#+ /) || [""];
    made.append(prefix ? el("span", { class: "prefix" }, prefix) : "", text.slice(prefix.length));
    made.position = position;
    return made;
  }

  function before(file, day) { // the lines of the day before, where the file changed on this one
    return day > 0 && file.changes.some(([at]) => at === day) ? [...linesAt(file, day - 1)] : null;
  }

  function fillArticle(article) { // with the lines of its file
    const { file } = article;
    const day = state.day;
    const previous = before(file, day);
    const shown = linesAt(file, day);
    const [now, then] = [new Set(shown), previous && new Set(previous)];
    const ghosts = new Map(); // the line above -> lines that went
    let above = -1;
    (previous || []).forEach((position) => {
      if (now.has(position)) above = position;
      else if (kindOf(textAt(file.lines[position], day - 1)) === "item") ghosts.set(above, [...(ghosts.get(above) || []), position]);
    });
    const list = el("ol", { class: "lines" });
    const ghost = (key) => (ghosts.get(key) || []).forEach((position) =>
      list.append(el("li", { class: "gone" }, el("del", {}, textAt(file.lines[position], day - 1)))));
    ghost(-1);
    shown.forEach((position, at) => {
      list.append(row(file, at + 1, position, day, then));
      ghost(position);
    });
    article.lastChild.replaceWith(list);
    article.waits = false;
  }

  function articleOf(file, lines) { // with room for the lines of its file, which are drawn when it comes near
    file.article ??= el("article", { class: "file", "data-file": file.path }, el("h3", {}, file.path), el("ol", { class: "lines" }));
    const made = file.article;
    made.file = file;
    made.waits = true;
    made.lastChild.replaceChildren();
    made.style.containIntrinsicBlockSize = `auto ${(lines + 1) * LINE_HEIGHT}px`;
    return made;
  }

  const nearby = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
    target.isNear = isIntersecting;
    if (isIntersecting && target.waits) fillArticle(target);
  }), { rootMargin: "1000px" });

  function drawMemory() {
    const view = $("#memory");
    const day = state.day;
    const files = page.files.filter(isShown);
    files.sort((a, b) => (a.path !== state.f) - (b.path !== state.f) || (a.path !== "MEMORY.md") - (b.path !== "MEMORY.md")
      || (a.path < b.path ? -1 : 1));
    let [known, isNew] = [0, 0];
    const articles = [];
    for (const file of files) {
      const previous = before(file, day);
      const shown = linesAt(file, day);
      if (!shown.length && !previous?.length) continue;
      const items = shown.filter((position) => isItem(file, position));
      const then = new Set(previous);
      known += items.length;
      isNew += previous ? items.filter((position) => !then.has(position)).length : 0;
      articles.push(articleOf(file, shown.length));
    }
    let place = $(":scope > p", view) || $(":scope > header", view);
    let drawn = 0;
    for (const one of articles) {
      if (place.nextElementSibling !== one) { place.after(one); nearby.observe(one); }
      if (one.isNear || drawn < LINES_AT_ONCE) { fillArticle(one); drawn += one.lastChild.children.length; }
      place = one;
    }
    for (let gone = place.nextElementSibling; gone; gone = place.nextElementSibling) {
      nearby.unobserve(gone);
      gone.isNear = false;
      gone.remove();
    }
    $("[data-summary]", view).textContent = count(known, "line") + (isNew ? `, ${isNew} new on this day` : "");
    $$(":scope > p", view).forEach((one) => { one.hidden = known > 0; });
    mark();
  }

  function drawFiles() {
    const select = $("[data-files]");
    select.replaceChildren(el("option", { value: "-" }, "another file …"));
    select.firstChild.value = "";
    for (const file of page.files.filter((one) => !MEMORY.test(one.path))) {
      select.append(el("option", { value: file.path }, file.path));
    }
    select.value = page.files.some((file) => file.path === state.f) ? state.f : "";
  }

  // ---------------------------------------------------------------- why

  const items = () => $$("#memory .item");
  const fileOf = (item) => item.closest("article").file;

  function itemOf(path, position) { // where it is shown: drawn, if it was not
    const found = $$("#memory > article").find((one) => one.file.path === path);
    if (!found || !linesAt(found.file, state.day).includes(position)) return undefined;
    if (found.waits) fillArticle(found);
    return $$(".item", found).find((item) => item.position === position);
  }

  function itemWith(id) { // an event stands behind it
    const event = page.positions.get(id);
    for (const { file } of event === undefined ? [] : $$("#memory > article")) {
      const found = linesAt(file, state.day).find((position) => standsBehind(event, file.lines[position], state.day));
      if (found !== undefined) return itemOf(file.path, found);
    }
    return undefined;
  }

  function mark() {
    select((state.e && itemWith(state.e)) || (current && itemOf(current.path, current.position)) || $("#memory .item"), false);
  }

  function select(item, byHand = true) {
    $$("[aria-current]", $("#memory")).forEach((one) => { one.removeAttribute("aria-current"); one.removeAttribute("tabindex"); });
    if (!item) { current = null; drawWhy(); return; }
    item.setAttribute("aria-current", "true");
    item.setAttribute("tabindex", "0");
    const path = item.closest("article").dataset.file;
    const isSame = current && current.page === page && current.text === item.textContent && current.path === path && current.day === state.day;
    current = { page, path, text: item.textContent, item, position: item.position, day: state.day };
    if (byHand) {
      state.e = item.dataset.ids.split(" ")[0] || "";
      item.scrollIntoView({ block: "nearest" });
      item.focus({ preventScroll: true });
      save();
    }
    if (!isSame || byHand) drawWhy();
  }

  function behind(item) {
    const file = fileOf(item);
    const line = file.lines[item.position];
    const events = eventsAt(line, state.day);
    for (const session of line.sessions || []) {
      for (const event of page.bySession.get(session) || []) if (!events.includes(event)) events.push(event);
    }
    return { file, line, events: events.sort((a, b) => a - b) };
  }

  function drawWhy() {
    const view = $("#why");
    const place = $(":scope > header", view);
    while (place.nextSibling) place.nextSibling.remove();
    drawDots([]);
    asking = null;
    if (!current) {
      place.after(el("p", { class: "soft" }, "Nothing is known on this day."));
      return;
    }
    const { file, events } = behind(current.item);
    const { position } = current;
    const sessions = new Set(events.map((event) => page.events[event].session));
    const agents = new Set([...sessions].map((one) => page.sessions[one]?.agent).filter(Boolean));
    const first = page.events[events[0]];
    const newest = page.events[events[events.length - 1]];
    const receipts = new Set([...events.flatMap((event) => page.given.get(`e${event}`) || []),
      ...(page.given.get(`l${file.position}.${position}`) || [])]);
    const given = [...receipts].map((one) => page.receipts[one]).filter((one) => one.at.slice(0, 10) <= page.days[state.day]);
    const givenTo = new Set(given.map((one) => one.session));
    const usedBy = new Set(given.filter((one) => (one.used || []).some((event) => events.includes(event))).map((one) => one.session));
    const parts = [el("p", { class: "quote" }, current.text.replace(/^- (\[[^\]]*\] )?/, ""))];
    if (events.length) {
      parts.push(el("p", { class: "facts num" },
        el("span", {}, `said ${events.length}×`), el("span", {}, count(sessions.size, "session")),
        agents.size ? el("span", {}, [...agents].join(", ")) : "",
        el("span", {}, `first ${first.at.slice(0, 10)}`),
        newest !== first ? el("span", {}, `last ${newest.at.slice(0, 10)}`) : ""));
      parts.push(el("p", { class: "facts num" },
        el("span", {}, givenTo.size ? `told to ${count(givenTo.size, "session")}` : "told to no session yet"),
        usedBy.size ? el("span", {}, `used later in ${usedBy.size}`) : ""));
      parts.push(hands(current.text, events));
      replaced(events).forEach((one) => parts.push(one));
      parts.push(el("ol", { class: "events" }, ...events.slice(-MOST_EVENTS).reverse().map((event) => eventItem(event))));
      if (events.length > MOST_EVENTS) parts.push(el("p", { class: "soft" }, `and ${events.length - MOST_EVENTS} earlier`));
    } else {
      parts.push(el("p", { class: "soft" }, "No event stands behind it: a person wrote it, or it is made of the lines around it."));
    }
    view.append(...parts);
    drawDots(events);
  }

  function replaced(events) {
    const keyed = events.map((event) => page.events[event]).find((event) => event.key);
    if (!keyed) return [];
    const others = page.events.filter((event, position) => event.key === keyed.key && !events.includes(position)
      && event.type === keyed.type && event.ts < page.events[events[events.length - 1]].ts);
    const newest = new Map(others.map((event) => [event.text, event.at.slice(0, 10)]));
    const texts = [...newest].reverse().slice(0, MOST_REPLACED).map(([text, day]) => `until ${day}: ${text}`);
    return texts.length ? [el("p", { class: "soft" }, "replaced under the same key:"),
      el("ul", { class: "soft" }, ...texts.map((text) => el("li", {}, text)))] : [];
  }

  function eventItem(position, withSession = true) {
    const event = page.events[position];
    const session = page.sessions[event.session];
    const meta = el("div", { class: "meta num" }, el("span", {}, (event.at || "").replace("T", " ")), el("span", {}, event.kind));
    if (event.hand) meta.append(el("span", { class: "chip" }, "by hand"));
    if (event.gone) meta.append(el("span", { class: "chip warn" }, "withdrawn"));
    if (session && withSession) {
      meta.append(el("button", { type: "button", class: "link", "data-open": session.id, click: () => openSession(session.id) },
        `${session.agent || "session"} · ${session.topic || session.id.slice(0, 8)}`));
    }
    meta.append(el("code", { title: event.id }, event.id.slice(-8)));
    return el("li", { "data-event": event.id, class: event.gone ? "is-gone" : "" }, meta, el("p", { class: "text" }, event.text),
      (event.details || []).length ? el("ul", { class: "details" }, ...event.details.map((text) => el("li", {}, text))) : "");
  }

  function drawDots(events) {
    const places = new Set(events.map((event) => page.events[event].at?.slice(0, 10)).filter(Boolean).map(upTo));
    const width = 1000 / Math.max(page.days.length, 1);
    const group = $("[data-dots]");
    group.replaceChildren(...[...places].map((day) => svg("rect", {
      class: "dot", x: day * width + width / 2 - 3, y: 1, width: 6, height: 6, rx: 3,
    })));
  }

  // ---------------------------------------------------------------- hands: forget, undo, edit, resolve

  const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;

  function target(text, events) { // what to name, and its words: the statement of a summary, not all of it
    const plain = text.replace(/\\/g, "");
    const valid = events.map((event) => page.events[event]).filter((event) => !event.gone);
    const fact = valid.find((event) => event.type === "fact" || event.type === "plan_entry");
    if (fact) return [fact.id, fact.type === "fact" ? fact.text : text];
    for (const event of valid) {
      for (const detail of event.details || []) {
        const statement = detail.replace(/^(decided|to do|done): /, "");
        if (statement !== detail && plain.includes(statement)) return [statement, statement];
      }
    }
    return [valid[0]?.id, text];
  }

  function hands(text, events) {
    const made = el("div", { class: "hands" });
    const [what, wording] = target(text.replace(/^- (\[[^\]]*\] )?/, ""), events);
    const isNow = state.day === last;
    if (what && isNow) {
      made.append(el("button", { type: "button", "data-do": "forget", click: () => ask("forget", { target: what }) }, "Forget"));
      made.append(el("button", { type: "button", "data-do": "edit", click: () => ask("edit", { target: what, content: wording }) }, "Edit"));
    }
    const shared = isNow && shareable(events);
    if (shared) made.append(el("button", { type: "button", "data-do": "share", click: () => ask("share", shared) }, "Share"));
    const decision = decisionAbout(events);
    if (decision) {
      made.append(el("button", { type: "button", "data-do": "undo", click: () => ask("undo", { target: decision.id }) }, "Undo the forgetting"));
    }
    if (events.length) made.append(el("button", { type: "button", "data-copy": true, click: () => copy(page.events[events[0]].id) }, "Copy id"));
    return made;
  }

  function shareable(events) { // what `share` writes a file of: a fact or the one decision of a summary, of a project
    const project = page.projects.find((one) => current.path === `projects/${one.slug}/MEMORY.md`);
    const states = (event) => event.type === "fact" || (event.details || []).filter((detail) => detail.startsWith("decided: ")).length === 1;
    const event = project && events.map((one) => page.events[one]).find((one) => !one.gone && states(one));
    return event && { target: event.id, content: "", checkout: project.path };
  }

  function decisionAbout(events) {
    const all = events.flatMap((event) => page.decisions.get(page.events[event].id) || []).map((one) => page.events[one]);
    const undone = new Set(all.concat(all.flatMap((one) => (page.decisions.get(one.id) || []).map((other) => page.events[other])))
      .filter((one) => one.type === "restored").map((one) => one.about));
    return all.filter((one) => (one.type === "rejected" || one.type === "retraction") && !undone.has(one.id)).pop();
  }

  function ask(verb, request, place = $("#why .hands")) {
    asking?.remove();
    const words = request.choice ? `--${request.choice} ` : "";
    const box = el("div", { class: "ask hands" });
    const option = { edit: "content", share: "why" }[verb];
    const named = (request.target.startsWith("-") ? "-- " : "") + quoted(request.target);
    const command = () => `eventlog ${verb} ${words}`
      + (option && request.content ? `--${option} ${quoted(request.content)} ` : "")
      + (request.checkout ? `--checkout ${quoted(request.checkout)} ` : "") + named;
    const shown = el("code", {}, command());
    let field = null;
    if (option) {
      field = el("textarea", { rows: "2", "aria-label": verb === "edit" ? "New wording" : "Reason, for your team" });
      field.value = request.content;
      field.addEventListener("input", () => { request.content = field.value; shown.textContent = command(); });
      box.append(field);
    }
    box.append(shown, el("button", { type: "button", "data-do": "yes", click: () => (live ? send(verb, request) : copy(command())) },
      live ? `Yes, ${verb}` : "Copy the command"), el("button", { type: "button", "data-no": true, click: () => { box.remove(); asking = null; } }, "No"));
    place.after(box);
    asking = box;
    (field || $("[data-do=yes]", box)).focus();
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast(`copied: ${text}`);
    } catch {
      toast(text);
    }
  }

  async function send(verb, request) {
    try {
      const answer = await fetch(`/${verb}?token=${encodeURIComponent(token)}`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
      });
      const done = await answer.json();
      toast(answer.ok ? `${verb}: done${done.files.length ? ` – commit ${done.files.join(", ")}` : ""}` : `${done.error}${done.hint ? ` – ${done.hint}` : ""}`);
      if (answer.ok) await refresh();
    } catch {
      toast("the server does not answer");
    }
  }

  // ---------------------------------------------------------------- sessions, and what they were told

  function sessionItem(session) {
    const project = page.projects[session.project];
    const who = [session.agent, project?.name].filter(Boolean).join(" · ");
    const inside = el("div", { class: "inside" });
    if (session.summary && session.summary !== session.topic) inside.append(el("p", {}, session.summary));
    if (session.decisions.length) inside.append(el("ul", {}, ...session.decisions.map((text) => el("li", {}, text))));
    if (session.todos.length) inside.append(el("ul", { class: "todo" }, ...session.todos.map((text) => el("li", {}, text))));
    return el("details", { class: "session", "data-session": session.id },
      el("summary", {}, el("span", { class: "clock" }, session.started.slice(11)),
        el("span", { class: "topic" }, session.topic || session.summary || "nothing saved"), el("span", { class: "who" }, who)), inside);
  }

  function fill(details) {
    if (details.filled) return;
    details.filled = true;
    const number = page.sessions.findIndex((session) => session.id === details.dataset.session);
    const session = page.sessions[number];
    const inside = $(".inside", details);
    const facts = [session.model, session.branch && `branch ${session.branch}`, session.turns && count(session.turns, "turn"),
      count(session.events, "event"), `until ${session.ended.slice(session.ended.slice(0, 10) === session.started.slice(0, 10) ? 11 : 0).replace("T", " ")}`];
    inside.prepend(el("p", { class: "soft num" }, facts.filter(Boolean).join(" · "), " ",
      el("button", { type: "button", class: "link", "data-told": session.id, click: () => chooseTold(session.id) }, "what it was told")));
    const events = page.bySession.get(number) || [];
    if (events.length) inside.append(el("ul", { class: "events" }, ...events.map((event) => eventItem(event, false))));
    const prompts = (page.receiptsOf.get(number) || []).map((one) => page.receipts[one].prompt).filter(Boolean);
    if (prompts.length) inside.append(el("p", { class: "soft" }, "asked:"), el("ul", {}, ...prompts.map((text) => el("li", {}, text))));
  }

  function drawSessions(rebuild = false) {
    const view = $("#sessions");
    if (rebuild) {
      $$(":scope > .day, :scope > [data-more]", view).forEach((one) => one.remove());
      const project = state.p === "" ? -1 : Number(state.p);
      const wanted = page.sessions.filter((session) => project < 0 || session.project === project);
      let [day, section] = ["", null];
      wanted.slice(0, drawSessions.most).forEach((session) => {
        if (session.started.slice(0, 10) !== day) {
          day = session.started.slice(0, 10);
          section = el("section", { class: "day", "data-day": day }, el("h3", {}, dayName(day)));
          view.append(section);
        }
        section.append(sessionItem(session));
      });
      if (wanted.length > drawSessions.most) {
        view.append(el("p", { "data-more": true }, el("button", { type: "button", click: () => { drawSessions.most *= 4; drawSessions(true); } },
          `${(wanted.length - drawSessions.most).toLocaleString("en")} older sessions`)));
      }
    }
    const today = page.days[state.day] || "";
    $$(":scope > .day", view).forEach((one) => { one.hidden = one.dataset.day > today; });
  }
  drawSessions.most = MOST_SESSIONS;

  function openSession(id) {
    let details = $$("#sessions details").find((one) => one.dataset.session === id);
    if (!details) { drawSessions.most = Infinity; setProject(""); drawSessions(true); details = $$("#sessions details").find((one) => one.dataset.session === id); }
    if (!details) return;
    details.parentElement.hidden = false;
    details.open = true;
    fill(details);
    chooseTold(id);
    details.scrollIntoView({ block: "start" });
    $("summary", details).focus({ preventScroll: true });
  }

  function chooseTold(id) {
    state.s = id;
    save();
    drawTold();
  }

  function drawTold() {
    const view = $("#told");
    const place = $(":scope > header", view);
    while (place.nextSibling) place.nextSibling.remove();
    let number = page.sessions.findIndex((session) => session.id === state.s);
    if (number < 0) number = page.sessions.findIndex((session, at) => page.receiptsOf.has(at) && (state.p === "" || session.project === Number(state.p)));
    const session = page.sessions[number];
    if (!session) { view.append(el("p", { class: "soft" }, "No session was told anything yet.")); return; }
    view.append(el("p", {}, el("button", { type: "button", class: "link", click: () => openSession(session.id) },
      session.topic || session.id), " ", el("span", { class: "soft num" }, `${session.agent} · ${session.started.replace("T", " ")}`)));
    const receipts = (page.receiptsOf.get(number) || []).map((one) => page.receipts[one]);
    if (!receipts.length) view.append(el("p", { class: "soft" }, "It was told nothing: its host has no such hook, or it began before the installation."));
    const most = Math.max(...receipts.map((one) => one.chars || 0), 1);
    const prompts = receipts.filter((one) => one.trigger === "prompt");
    receipts.forEach((receipt) => view.append(receiptItem(receipt, most, prompts.indexOf(receipt) + 1)));
  }

  function receiptItem(receipt, most, number) {
    const used = new Set(receipt.used || []);
    const head = receipt.trigger === "prompt" ? `prompt ${number}` : receipt.trigger === "file" ? `before ${receipt.file}` : "start";
    const meta = el("div", { class: "meta num" }, el("b", {}, head), el("span", {}, receipt.at.slice(11)));
    if (receipt.id) meta.append(el("span", {}, `${receipt.chars.toLocaleString("en")} characters`));
    else meta.append(el("span", { class: "chip" }, "told nothing"));
    const made = el("div", { class: "receipt", "data-receipt": receipt.id || receipt.at }, meta);
    if (receipt.id) {
      const bar = svg("svg", { class: "size", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" });
      bar.append(svg("rect", { class: "of", width: 100, height: 6 }), svg("rect", { class: "is", width: Math.max(1, (100 * receipt.chars) / most), height: 6 }));
      made.append(bar);
    }
    if (receipt.prompt) made.append(el("p", { class: "prompt" }, `“${receipt.prompt}”`));
    if (!receipt.id) {
      const numbers = receipt.need ? `best ${receipt.best ?? 0} < ${receipt.need}` : "";
      const isBelow = receipt.need && (receipt.best ?? 0) < receipt.need;
      made.append(el("p", { class: "soft" }, isBelow ? `by what is known now, ${numbers}${receipt.nearest ? `: ${receipt.nearest}` : ""}` : receipt.reason));
    }
    const list = el("ul");
    (receipt.lines || []).forEach(([file, line]) => {
      const text = page.files[file].lines[line].texts[0][1];
      list.append(el("li", {}, el("button", { type: "button", class: "link", click: () => goToLine(file, line, receipt.at) }, text.replace(/^- (\[[^\]]*\] )?/, ""))));
    });
    (receipt.events || []).forEach((event) => {
      list.append(el("li", { "data-event": page.events[event].id }, el("button", { type: "button", class: "link", click: () => goToEvent(page.events[event].id) }, page.events[event].text),
        used.has(event) ? el("span", { class: "chip used" }, "used later") : ""));
    });
    if (list.children.length) made.append(list);
    const others = (receipt.files || []).filter((path) => !path.includes("/knowledge/"));
    if (others.length) made.append(el("p", { class: "soft" }, `files of people: ${others.join(", ")}`));
    if ((receipt.cut || []).length) made.append(el("p", { class: "soft" }, `no room for: ${receipt.cut.join(", ")}`));
    return made;
  }

  // ---------------------------------------------------------------- search

  const plain = (text) => text.normalize("NFKC").toLowerCase();

  function searched() {
    if (corpus) return corpus;
    const lines = new Map();
    const others = page.files.filter((file) => file.path !== "sessions.jsonl"); // the sessions themselves are found
    others.forEach((file) => file.lines.forEach((line, position) => {
      const text = line.texts[0][1];
      const kind = kindOf(text);
      if (kind !== "note" && kind !== "head" && text.trim() && !lines.has(text) && !(line.behind || []).length) lines.set(text, [file, position]);
    }));
    corpus = [
      ...page.events.map((event) => ({ text: [event.text, ...(event.details || [])].join(" · "), at: event.at, kind: event.kind, event, session: event.session })),
      ...page.sessions.map((session, number) => ({ text: [session.topic, session.summary, ...session.todos].filter(Boolean).join(" · "), at: session.started, kind: "session", opens: session.id, session: number })),
      ...page.receipts.filter((one) => one.prompt).map((one) => ({ text: one.prompt, at: one.at, kind: "prompt", opens: page.sessions[one.session].id, session: one.session })),
      ...[...lines].map(([text, [file, position]]) => ({ text, at: "", kind: file.path, line: [file.position, position], session: -1 })),
    ].filter((one) => one.text);
    corpus.forEach((one) => { one.plain = plain(one.text); });
    return corpus;
  }

  function drawHits() {
    const box = $("#hits");
    const list = $("ol", box);
    const words = plain(state.q).split(/\s+/).filter(Boolean);
    box.hidden = !words.length;
    list.replaceChildren();
    if (!words.length) return;
    const project = state.p === "" ? -1 : Number(state.p);
    const [found, seen] = [[], new Set()];
    for (const one of searched()) {
      if (project >= 0 && one.session >= 0 && page.sessions[one.session]?.project !== project) continue;
      if (!words.every((word) => one.plain.includes(word))) continue;
      const whole = words.filter((word) => ` ${one.plain} `.match(new RegExp(`[^\\p{L}\\p{N}]${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}[^\\p{L}\\p{N}]`, "u"))).length;
      found.push([whole, one.event?.gone ? "" : one.at || "", one]);
    }
    found.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? 1 : a[1] > b[1] ? -1 : 0));
    for (const [, , one] of found) {
      const key = `${one.kind} ${one.plain}`;
      if (seen.has(key)) continue;
      if (seen.size >= MOST_HITS) break;
      seen.add(key);
      const button = el("button", { type: "button", click: () => go(one) }, el("span", { class: "soft num" }, `${(one.at || "").slice(0, 10)} ${one.kind}  `), ...marked(one.text, words));
      if (one.event?.gone) button.append(" ", el("span", { class: "chip warn" }, "withdrawn"));
      list.append(el("li", { class: "hit", "data-hit": one.event?.id || one.opens || one.kind }, button));
    }
    const isMore = seen.size >= MOST_HITS ? ", the first" : "";
    $("h2", box).textContent = found.length ? `Found ${seen.size}${isMore}` : `Nothing says “${state.q}”`;
  }

  function marked(text, words) {
    const lower = text.toLowerCase(); // where it has another length, nothing is marked
    const parts = [];
    let at = 0;
    while (lower.length === text.length && at < text.length) {
      const next = words.map((word) => [lower.indexOf(word, at), word.length]).filter(([start]) => start >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      parts.push(text.slice(at, next[0]), el("mark", {}, text.slice(next[0], next[0] + next[1])));
      at = next[0] + next[1];
    }
    return [...parts, text.slice(at)];
  }

  function go(hit) {
    if (hit.line) goToLine(...hit.line, "");
    else if (hit.event && goToEvent(hit.event.id)) return;
    else if (hit.opens || page.sessions[hit.session]) openSession(hit.opens || page.sessions[hit.session].id);
  }

  function goToEvent(id) {
    state.e = id;
    let item = itemWith(id);
    if (!item) { // where and when a file showed it: a memory first, the newest day first
      const position = page.positions.get(id);
      const places = page.files.flatMap((file) => file.lines.map((line, at) => [file, line, at]))
        .filter(([, line]) => (line.behind || []).some(([, came]) => came.includes(position)));
      const spans = places.map(([file, line, at]) => [file, lastDayOf(file, line, at, position)]).filter(([, day]) => day >= 0);
      spans.sort((a, b) => MEMORY.test(b[0].path) - MEMORY.test(a[0].path) || b[1] - a[1]);
      if (!spans.length) { const session = page.sessions[page.events[position]?.session]; if (session) openSession(session.id); return Boolean(session); }
      const [file, day] = spans[0];
      if (!isShown(file)) { if (MEMORY.test(file.path)) setProject(""); else setFile(file.path); }
      if (!linesAt(file, state.day).some((one) => eventsAt(file.lines[one], state.day).includes(position))) setDay(day);
      else drawMemory();
      item = itemWith(id);
    }
    if (item) { select(item); item.scrollIntoView({ block: "center" }); }
    return Boolean(item);
  }

  function lastDayOf(file, line, at, position) {
    for (let index = file.touched.length - 1; index >= 0; index -= 1) {
      const until = index + 1 < file.touched.length ? file.touched[index + 1] - 1 : last;
      if (linesAt(file, until).includes(at) && eventsAt(line, until).includes(position)) return until;
    }
    return -1;
  }

  function goToLine(file, position, at) {
    const one = page.files[file];
    if (!isShown(one)) { if (MEMORY.test(one.path)) setProject(""); else setFile(one.path); }
    if (at && !linesAt(one, state.day).includes(position)) setDay(upTo(at.slice(0, 10)));
    let item = itemOf(one.path, position);
    if (!item && state.day > 0) { setDay(state.day - 1); item = itemOf(one.path, position); }
    if (item) { select(item); item.scrollIntoView({ block: "center" }); }
  }

  // ---------------------------------------------------------------- state, in the address

  function load() {
    const given = new URLSearchParams(location.hash.slice(1));
    const day = given.get("d");
    state = {
      day: day && page.days.length ? upTo(day) : last,
      e: given.get("e") || "", f: given.get("f") || "", s: given.get("s") || "", q: given.get("q") || "",
    };
    state.p = projectOf(given.get("p"));
  }

  function projectOf(slug) { // its number, as a text; "" for all
    const found = page.projects.findIndex((one) => one.slug === slug);
    return found < 0 ? "" : String(found);
  }

  function save() {
    const now = Date.now();
    clearTimeout(save.later);
    save.times = save.times.filter((time) => now - time < PERIOD);
    if (save.times.length >= MOST_SAVES) { save.later = setTimeout(save, 500); return; }
    save.times.push(now);
    const kept = new URLSearchParams();
    if (state.day !== last) kept.set("d", page.days[state.day]);
    for (const name of ["e", "f", "s", "q"]) if (state[name]) kept.set(name, state[name]);
    if (state.p !== "") kept.set("p", page.projects[state.p].slug);
    const hash = kept.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }
  save.times = [];

  function setDay(day) {
    state.day = Math.min(Math.max(day, 0), last);
    drawDay();
    drawMemory();
    drawSessions();
    save();
  }

  function setFile(path) {
    state.f = path;
    $("[data-files]").value = path;
    drawMemory();
    save();
  }

  function setProject(project) {
    state.p = project;
    $("[data-projects]").value = project;
    drawMemory();
    drawSessions(true);
    drawTold();
    drawHits();
    save();
  }

  function drawDay() {
    const slider = $("[data-slider]");
    const day = page.days[state.day] || "";
    slider.value = String(state.day);
    slider.setAttribute("aria-valuetext", day);
    $(".when output").textContent = dayName(day);
    document.body.classList.toggle("past", state.day !== last);
    const width = 1000 / Math.max(page.days.length, 1);
    const now = $(".strip .now");
    now.setAttribute("x1", String(width * (state.day + 0.5)));
    now.setAttribute("x2", String(width * (state.day + 0.5)));
    $("[data-step='-1']").disabled = state.day <= 0;
    $("[data-step='1']").disabled = state.day >= last;
  }

  function drawAll() {
    $("[data-search]").value = state.q;
    $("[data-projects]").value = state.p;
    drawFiles();
    drawDay();
    drawMemory();
    drawSessions(true); // an attribute of HTML cannot hold every id
    drawTold();
    drawHits();
  }

  function arrive() { // at what the address keeps
    load();
    drawAll();
    if (state.e) itemWith(state.e)?.scrollIntoView({ block: "center" });
  }

  // ---------------------------------------------------------------- events of the browser

  function move(step) {
    const beside = current?.item.closest("article")?.[step > 0 ? "nextElementSibling" : "previousElementSibling"];
    if (beside?.waits) fillArticle(beside);
    const found = items();
    const at = found.indexOf(current?.item);
    const next = found[Math.min(Math.max(at + step, 0), found.length - 1)];
    if (next) select(next);
  }

  function theme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("eventlog-theme", document.documentElement.dataset.theme); } catch { /* a file has no storage */ }
  }

  function help() {
    const dialog = $("dialog");
    if (dialog.open) dialog.close(); else dialog.showModal();
  }

  function press(name) {
    const button = $(`#why [data-do=${name}]`);
    if (button) button.click(); else toast(name === "undo" ? "nothing of it is forgotten" : "only lines of the last day");
  }

  const KEYS = {
    j: () => move(1), k: () => move(-1), w: () => { $("#why").scrollIntoView({ block: "nearest" }); $("#why").focus({ preventScroll: true }); },
    "/": () => $("[data-search]").focus(), "?": help, t: theme, "[": () => setDay(state.day - 1), "]": () => setDay(state.day + 1),
    f: () => press("forget"), u: () => press("undo"), e: () => press("edit"),
  };

  function onKey(event) {
    const field = event.target.closest?.("input, textarea, select");
    if (event.key === "Escape") {
      if ($("dialog").open) $("dialog").close();
      else if (asking) { asking.remove(); asking = null; }
      else if (field?.matches("[data-search]")) { state.q = ""; field.value = ""; drawHits(); save(); field.blur(); }
      else field?.blur();
      return;
    }
    if (field?.matches("[data-search]") && event.key === "Enter") { $("#hits .hit button")?.click(); return; }
    if (field?.matches("[data-search]") && event.key === "ArrowDown") { $("#hits .hit button")?.focus(); event.preventDefault(); return; }
    const hit = event.target.closest?.(".hit");
    if (hit && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const other = event.key === "ArrowDown" ? hit.nextElementSibling : hit.previousElementSibling;
      ($("button", other || hit) || hit).focus();
      event.preventDefault();
      return;
    }
    if (field && field.type !== "range") return;
    if (event.ctrlKey || event.metaKey || event.altKey || ($("dialog").open && event.key !== "?")) return;
    if (event.key === "Enter" && event.target.closest?.(".item")) { KEYS.w(); return; }
    const action = KEYS[event.key];
    if (action) { event.preventDefault(); action(); }
  }

  function listen() {
    document.addEventListener("keydown", onKey);
    document.addEventListener("input", (event) => {
      if (event.target.matches("[data-slider]")) setDay(Number(event.target.value));
      if (event.target.matches("[data-search]")) { state.q = event.target.value; drawHits(); save(); }
    });
    document.addEventListener("change", (event) => {
      if (event.target.matches("[data-projects]")) setProject(event.target.value);
      if (event.target.matches("[data-files]")) setFile(event.target.value);
    });
    document.addEventListener("click", (event) => {
      const found = (selector) => event.target.closest?.(selector);
      const item = found("#memory .item");
      if (item && !getSelection()?.toString()) select(item);
      const bar = found(".strip [data-day]");
      if (bar) setDay(upTo(bar.dataset.day));
      const step = found("[data-step]");
      if (step) setDay(state.day + Number(step.dataset.step));
      if (found("[data-theme-switch]")) theme();
      if (found("[data-help]") || found("[data-close]")) help();
      const resolve = found("#open [data-do=resolve]");
      if (resolve) ask("resolve", { target: resolve.dataset.target, choice: resolve.dataset.choice }, resolve.parentElement);
    });
    document.addEventListener("toggle", (event) => {
      const session = event.target;
      if (!session.matches?.("details.session") || !session.open) return;
      fill(session);
      if (!session.isBack) chooseTold(session.dataset.session);
      session.isBack = false;
    }, true);
    addEventListener("hashchange", arrive);
    addEventListener("beforeprint", () => $$("#memory > article").filter((one) => one.waits).forEach(fillArticle));
  }

  // ---------------------------------------------------------------- live: the log grows

  const called = (one) => [one.closest("[id]")?.id, one.closest("[data-session]")?.dataset.session, one.tagName, // in every state of the page
    JSON.stringify(one.dataset), one.matches("summary") || one.textContent].join(" ");

  function focusAgain(name) { // what was drawn anew, else the chosen line
    ($$("button, summary, input").find((one) => called(one) === name) || $("#memory [aria-current]"))?.focus({ preventScroll: true });
  }

  async function refresh() {
    const answer = await fetch(location.pathname + location.search);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const wasLast = state.day === last;
    const day = page.days[state.day];
    const project = page.projects[state.p]?.slug;
    const open = $$("#sessions details[open]").map((one) => one.dataset.session);
    const focused = document.activeElement;
    const name = called(focused);
    for (const id of ["strip", "sessions", "open", "numbers", "foot"]) $(`#${id}`).replaceWith(document.importNode($(`#${id}`, fresh), true));
    $("[data-projects]").replaceChildren(...[...$("[data-projects]", fresh).children].map((one) => document.importNode(one, true)));
    prepare(JSON.parse($("#data", fresh).textContent));
    $$("#memory > article").forEach((one) => one.remove());
    state.day = wasLast || !day ? last : upTo(day);
    state.p = projectOf(project);
    live = liveOf(fresh);
    drawAll();
    $$("#sessions details").filter((one) => open.includes(one.dataset.session)).forEach((one) => { one.open = one.isBack = true; fill(one); });
    if (!focused.isConnected) focusAgain(name);
  }

  async function watch() {
    for (;;) {
      try {
        const answer = await fetch(`/state.json?token=${encodeURIComponent(token)}`);
        if (answer.ok && (await answer.json()).state !== live && !asking && !$(":active")) await refresh();
      } catch { /* it has ended, or comes back */ }
      await new Promise((resolve) => { setTimeout(resolve, 2000); });
    }
  }

  try {
    const chosen = localStorage.getItem("eventlog-theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch { /* a file has no storage */ }
  prepare(JSON.parse($("#data").textContent));
  $$("#memory > article").forEach((one) => one.remove());
  arrive();
  listen();
  if (live) watch();
})();
