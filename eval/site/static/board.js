"use strict";

/**
 * The controls of the start page: the window that both tables show, and their order.
 *
 * A view is {from, to, platform, difficulty}: whole months like "2024-08" (UTC; "": no bound), and lists of values
 * (empty: all). The fragment of the address holds it, for reloads and the browser's history. The view without a choice
 * is the page as it was made; the data for others come with a script of their own. All text goes in as text.
 */
(() => {
  const MONTHS = ["from", "to"];
  const LISTS = ["platform", "difficulty"];
  const MONTH = /^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$/;
  const MAX_QUOTED = 40;

  const form = document.getElementById("view");
  const said = document.getElementById("view-said");
  if (!form || !said) return;
  const saidAtFirst = [...said.childNodes];
  const announcer = element("div", "");
  announcer.className = "quiet"; // for screen readers alone
  announcer.setAttribute("role", "status");
  document.body.append(announcer);
  const tables = [...document.querySelectorAll("#own, #common")].map(readTable);

  let board = null; // the data, once they are there
  let loading = null;
  let shown = ""; // the fragments of the view that is shown, and of the one that was asked for last
  let wanted = "";

  const boxes = (name) => [...form.querySelectorAll(`input[name="${name}"]`)];

  /** The view of the form. In any view `why` says why there is no such: "" where there is. */
  function fromForm() {
    const view = { why: "" };
    for (const name of MONTHS) {
      const { value, validity } = form.elements[name];
      view[name] = value.trim();
      if (validity.badInput) view.why = `"${name}" is no whole month yet`;
    }
    for (const name of LISTS) view[name] = boxes(name).flatMap((box) => (box.checked ? [box.value] : []));
    return checked(view);
  }

  function fromAddress() {
    const view = { why: "", from: "", to: "", platform: [], difficulty: [] };
    const fragment = location.hash.slice(1);
    const isLink = document.getElementById(fragment) !== null; // to a place of the page, which leaves the view alone
    for (const [name, value] of new URLSearchParams(isLink ? wanted : fragment)) {
      if (LISTS.includes(name)) view[name].push(value);
      else if (MONTHS.includes(name) && !view[name]) view[name] = value;
      else view.why ||= `${quoted(name)} says nothing here`;
    }
    return checked(view);
  }

  /** The view with its values in the page's order, or with why there is no such. */
  function checked(view) {
    for (const name of MONTHS) {
      if (view[name] && !MONTH.test(view[name])) view.why ||= `${quoted(view[name])} is no month like 2024-08`;
    }
    if (view.to && view.from > view.to) view.why ||= `the window would end with ${view.to}, before ${view.from}`;
    for (const name of LISTS) {
      const known = boxes(name).map((box) => box.value);
      const unknown = view[name].find((value) => !known.includes(value));
      if (unknown !== undefined) view.why ||= `no problem here has the ${name} ${quoted(unknown)}`;
      view[name] = known.filter((value) => view[name].includes(value));
    }
    return view;
  }

  const quoted = (text) => `"${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}"`;

  /** A view as it stands in the address; "" for the one without a choice. */
  function written(view) {
    const pairs = [...MONTHS, ...LISTS].flatMap((name) => [view[name]].flat().map((value) => [name, value]));
    return new URLSearchParams(pairs.filter(([, value]) => value)).toString();
  }

  function onControls() {
    const view = fromForm();
    if (view.why) {
      say([[`${view.why}: the tables stay as they were`]]);
      return;
    }
    const fragment = written(view);
    const address = fragment ? `#${fragment}` : location.pathname + location.search;
    if (fragment !== wanted) history.pushState(null, "", address);
    show(view);
  }

  function onAddress() {
    const asked = fromAddress();
    const view = asked.why ? { from: "", to: "", platform: [], difficulty: [] } : asked;
    for (const name of MONTHS) form.elements[name].value = view[name];
    for (const name of LISTS) for (const box of boxes(name)) box.checked = view[name].includes(box.value);
    show(view);
    if (asked.why) say([[`The address asks for a view that there is not: ${asked.why}. This is the default view.`]]);
  }

  function show(view) {
    wanted = written(view);
    if (!wanted) {
      change(({ made, own }) => own.replaceWith(made));
      said.replaceChildren(...saidAtFirst);
    } else if (board) {
      update(view);
    } else {
      say([["Reading the data …"]]);
      load().then(
        () => wanted === written(view) && update(view),
        (error) => wanted && say([[`No other view can be shown: ${error.message}. The tables are as they were.`]]),
      );
    }
  }

  /** The data, from a script that sets a global: a page opened from a folder may not fetch. */
  function load() {
    const build = form.dataset.build ?? "";
    if (loading) return loading;
    const script = document.createElement("script");
    loading = new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(new Error("data/board.js cannot be read"));
      script.src = `data/board.js?${build}`;
      document.head.append(script);
    }).then(() => {
      const data = window.LIVE_BOARD;
      if (build && data.build !== build) throw new Error("page and data are of different builds: load the page again");
      board = liveTables.prepare(data);
    });
    // What failed once may work when it is asked for again.
    loading.catch(() => {
      loading = null;
      script.remove();
    });
    return loading;
  }

  function update(view) {
    const window = windowOf(view);
    const common = liveTables.common(board, window);
    const found = { own: liveTables.own(board, window), common: common.rows };
    const places = new Map(board.runs.map((run, place) => [run.slug, place]));
    change(({ made, own }, table, run) => {
      const { text, value, high } = found[table][places.get(run)]?.[own.dataset.column] ?? {};
      own.textContent = text ?? "–";
      for (const [name, number] of Object.entries({ value, high })) {
        if (number === undefined) delete own.dataset[name];
        else own.dataset[name] = number;
      }
      made.replaceWith(own);
    });
    say(sentences(view, common));
  }

  /** Changes every cell that a view may change, and what else belongs to the default view. */
  function change(cell) {
    shown = wanted;
    for (const { name, rows } of tables) for (const row of rows) for (const one of row.cells) cell(one, name, row.run);
    for (const part of document.querySelectorAll("[data-default-view]")) part.hidden = shown !== "";
    tables.forEach(arrange);
  }

  /** The instants that a view's months mean, and the places of its values in the data (null: all). */
  function windowOf(view) {
    const month = (text, on) => (text ? Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5)) - 1 + on, 1) : null);
    const chosen = (values, names) => {
      const same = (value) => names.findIndex((name) => name.toLowerCase() === value.toLowerCase());
      const places = new Set(values.map(same));
      return places.size === 0 || places.size === names.length ? null : places;
    };
    return {
      since: month(view.from, 0),
      until: month(view.to, 1),
      platforms: chosen(view.platform, board.platforms),
      difficulties: chosen(view.difficulty, board.difficulties),
    };
  }

  /** Puts lines into the page, each a list of texts and of {code}. */
  function say(lines) {
    const parts = lines.flatMap((line, place) => (place ? [document.createElement("br"), ...line] : line));
    said.replaceChildren(...parts.map((part) => (part.code ? element("code", part.code) : part)));
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function sentences(view, common) {
    const { own, common: afterCutoff, explicit, common_tail: tail } = board.commands;
    const isExplicit = view.from || view.to;
    const code = command(isExplicit ? explicit : afterCutoff, view, tail);
    const narrowed = LISTS.map((name) => (view[name].length ? `, ${view[name].join(" or ")} alone` : "")).join("");
    const where = isExplicit ? "whatever the cut-offs" : "after the latest cut-off";
    const period = [view.from && ` from ${view.from} on`, view.to && ` to the end of ${view.to}`].join("");
    return [
      [`Shown: problems published${period || " at any time"} (UTC)${narrowed}.`],
      ["Each model on those after its own cut-off, as by ", { code: command(own, view, "") }],
      [`All on the same ones, ${where}: ${groupsText(common)}, as by `, { code }],
      ...common.groups.flatMap((group) => ranksSaid(group, common.groups.length, code)),
      [`These commands give the same numbers ${board.commands.basis}.`],
    ];
  }

  function groupsText({ groups, eligible }) {
    const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
    const texts = groups.map(({ runs, problems, contests }) =>
      [counted(runs.length, "run"), "on", counted(problems, "problem"), "of", counted(contests, "contest")].join(" "),
    );
    return texts.length ? `${texts.join("; ")}; ${eligible} eligible` : "no run can be compared";
  }

  /** Why a group has no ranks; nothing where it has some. */
  function ranksSaid({ runs, noRanks }, nGroups, code) {
    if (noRanks === null) return [];
    const whose = nGroups > 1 && runs.length ? ` among ${runs[0].name} and those under equal settings` : "";
    if (noRanks) return [[`No ranks${whose}: ${noRanks}.`]];
    return [[`No ranks${whose}: those of this view were not computed beforehand; `, { code }, " does."]];
  }

  /** The command that gives the same numbers. */
  function command(start, view, tail) {
    const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
    const option = (name, values) => values.map((value) => (value ? ` --${name} ${word(value)}` : "")).join("");
    const lists = LISTS.map((name) => option(name, view[name].length ? view[name] : board.commands[name]));
    const bounds = option("since", [view.from]) + option("until", [view.to]);
    return start + bounds + lists.join("") + board.commands.tail + tail + board.commands.models;
  }

  /** A table of the page: its rows by body, and how it is sorted (null: as it came). */
  function readTable(made) {
    const rowsOf = (body) => [...body.querySelectorAll("tr[data-run]")].map(readRow);
    const bodies = [...made.tBodies].map((body) => ({ body, rows: rowsOf(body) }));
    const heads = [...made.querySelectorAll("thead button[data-sort]")].map((button) => button.closest("th"));
    const table = { name: made.id, bodies, rows: bodies.flatMap(({ rows }) => rows), heads, sorting: null };
    for (const head of heads) head.querySelector("button").addEventListener("click", () => sortBy(table, head));
    return table;
  }

  /** A row with its cells: as the page made each, and one in its place that holds what another view says. */
  function readRow(tr) {
    const cells = [...tr.querySelectorAll("[data-column]")].map((made) => ({ made, own: made.cloneNode(false) }));
    return { tr, cells, run: tr.dataset.run, name: tr.cells[0].dataset.name ?? tr.cells[0].textContent.trim() };
  }

  /** Numbers begin with the greatest, words with the alphabet's first; a second press turns it, a third undoes it. */
  function sortBy(table, head) {
    const button = head.querySelector("button");
    const isText = button.dataset.sort === "text";
    const turns = isText ? ["ascending", "descending"] : ["descending", "ascending"];
    const direction = turns[table.sorting?.head === head ? turns.indexOf(table.sorting.direction) + 1 : 0];
    table.sorting = direction ? { head, direction, isText } : null;
    for (const other of table.heads) other.setAttribute("aria-sort", (other === head && direction) || "none");
    arrange(table);
    const name = button.textContent.trim();
    announcer.textContent = direction ? `Sorted by ${name}, ${direction}.` : "In the order of the page again.";
  }

  function arrange(table) {
    // Another view of the common table has the best score first, as the page has it for its own.
    const isByScore = !table.sorting && table.name === "common" && shown !== "";
    const key = isByScore ? (row) => valueOf(row.tr.querySelector('[data-column="score"]')) : sortKey(table.sorting);
    const sign = table.sorting?.direction === "ascending" ? 1 : -1;
    for (const { body, rows } of table.bodies) {
      const keyed = rows.map((row) => ({ row, key: key(row) }));
      if (table.sorting || isByScore) {
        keyed.sort((one, other) => compared(one.key, other.key, sign) || order(one.row.name, other.row.name));
      }
      body.append(...keyed.map(({ row }) => row.tr));
    }
  }

  const valueOf = (cell) => (cell?.dataset.value === undefined ? null : Number(cell.dataset.value));

  /** What a row is sorted by: a number, a text, or null where there is nothing. */
  const sortKey = (sorting) => (row) => {
    const cell = sorting && row.tr.cells[sorting.head.cellIndex];
    return sorting?.isText ? (cell?.dataset.value ?? cell?.textContent.trim()) || null : valueOf(cell);
  };

  const order = (one, other) => (one < other ? -1 : Number(one > other));

  /** What is missing comes last in both directions. */
  const compared = (one, other, sign) =>
    one === null || other === null ? Number(one === null) - Number(other === null) : sign * order(one, other);

  form.addEventListener("change", onControls);
  form.addEventListener("reset", () => {
    // The browser does the same, but only after this.
    for (const name of MONTHS) form.elements[name].value = "";
    for (const box of form.querySelectorAll("input:checked")) box.checked = false;
    onControls();
  });
  window.addEventListener("popstate", onAddress);
  document.documentElement.dataset.script = "on";
  form.hidden = false;
  onAddress();
})();
