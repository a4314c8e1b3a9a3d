// Commit detail — a list of commits that opens any one of them with its diff stat
async () => {
  const { commits, nextCursor } = await connecta.call("git.log", { limit: 14 });
  const newest = commits[0] && (await connecta.call("git.commit", { hash: commits[0].hash }));
  const more = nextCursor !== undefined;
  const initial = { commits, newest, more, readAt: Date.now() };

  const style = `
    body { --ink: var(--color-text-primary, light-dark(#1b1e23, #eceef1));
      --dim: var(--color-text-secondary, light-dark(#5b6470, #a3abb6));
      --paper: var(--color-background-primary, light-dark(#ffffff, #17191d));
      --card: var(--color-background-secondary, light-dark(#f5f6f8, #202329));
      --line: var(--color-border-primary, light-dark(#dde1e6, #363b44));
      --blue: light-dark(#2563eb, #82b1ff); --red: light-dark(#c02626, #ff8f87); --green: light-dark(#15803d, #6fd68f);
      margin: 0; padding: 16px; background: var(--paper); color: var(--ink);
      font: 14px/1.45 var(--font-sans, system-ui, sans-serif); font-variant-numeric: tabular-nums; }
    * { box-sizing: border-box; }
    h1, h2, h3, p, dl, dd, ol { margin: 0; padding: 0; }
    h1 { font-size: 20px; line-height: 1.25; font-weight: 650; }
    h2 { font-size: 17px; line-height: 1.35; font-weight: 650; overflow-wrap: anywhere; }
    h3, dt { font-size: 13px; font-weight: 600; color: var(--dim); }
    .dim { color: var(--dim); font-size: 13px; }
    code { font: 12.5px var(--font-mono, ui-monospace, monospace); overflow-wrap: anywhere; }
    #problem { margin-top: 12px; padding: 8px 12px; border-radius: 8px; color: var(--red); border: 1px solid currentColor; }
    main { display: grid; gap: 14px; margin-top: 14px; align-items: start; }
    ol { list-style: none; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; min-width: 0; }
    li + li { border-top: 1px solid var(--line); }
    li > button { display: block; width: 100%; padding: 9px 14px; border: 0; text-align: left; cursor: pointer;
      font: inherit; color: inherit; background: none; box-shadow: inset 3px 0 transparent; }
    li > button:hover:enabled:not([aria-current="true"]) { background: color-mix(in srgb, var(--ink) 4%, transparent); }
    li > button[aria-current="true"] { background: color-mix(in srgb, var(--blue) 11%, transparent); box-shadow: inset 3px 0 var(--blue); }
    li > button:disabled { cursor: progress; color: inherit; }
    li > button:focus-visible { outline: 2px solid var(--blue); outline-offset: -2px; border-radius: 10px; }
    button strong { display: block; font-weight: 550; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    button > span { display: flex; gap: 10px; color: var(--dim); font-size: 13px; }
    button > span > :first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    button code, button time { flex: none; }
    button code { margin-left: auto; align-self: center; }
    article { border: 1px solid var(--line); border-radius: 12px; background: var(--card); padding: 16px; min-width: 0; transition: opacity .15s; }
    li article { margin: 2px 10px 12px; background: var(--paper); }
    article[aria-busy="true"] { opacity: .55; }
    .more { padding: 9px 14px; }
    .body { margin-top: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 3px 14px; margin: 14px 0 16px; }
    dd { overflow-wrap: anywhere; }
    .ref { display: inline-block; margin-right: 6px; padding: 0 8px; border-radius: 9px; font-size: 12px; font-weight: 600;
      color: var(--blue); background: color-mix(in srgb, var(--blue) 14%, transparent); }
    table { width: 100%; border-collapse: collapse; }
    caption { padding-bottom: 6px; text-align: left; font-size: 13px; font-weight: 600; color: var(--dim); }
    td { padding: 5px 0 5px 10px; border-top: 1px solid var(--line); text-align: right; vertical-align: baseline; white-space: nowrap; }
    td:first-child { width: 100%; padding-left: 0; text-align: left; white-space: normal; }
    .plus { color: var(--green); } .minus { color: var(--red); }
    .stat { display: flex; width: 72px; height: 8px; margin-left: auto; border-radius: 4px; overflow: hidden; background: color-mix(in srgb, var(--ink) 9%, transparent); }
    .stat i { background: currentColor; }
    @media (min-width: 700px) { main { grid-template-columns: minmax(240px, 2fr) minmax(0, 3fr); } }
    @media (max-width: 420px) { td:last-child { display: none; } li article { margin: 0 6px 8px; padding: 12px; } }`;

  const page = `
    <header><h1>Commits in detail</h1><p class="dim" id="status" role="status"></p></header>
    <p id="problem" role="alert" hidden></p>
    <main id="main"><ol id="commits" aria-label="Commits"></ol></main>`;

  // Runs in the view, so it closes over nothing of this program.
  const view = () => {
    const find = (id) => document.getElementById(id);
    const { commits, newest, more, readAt } = JSON.parse(find("data").textContent);
    const wide = matchMedia("(min-width: 700px)");
    const detail = document.createElement("article");
    detail.id = "detail";
    let selected = newest?.hash;

    const make = (name, className, ...content) => {
      const element = document.createElement(name);
      if (className) element.className = className;
      element.append(...content);
      return element;
    };
    const clock = (when) => new Date(when).toLocaleTimeString("en-GB");
    const day = (date) =>
      new Date(date).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
    const counted = (count, one, many) =>
      `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

    const fileRow = (file, most) => {
      const bar = make("div", "stat");
      for (const [kind, count] of Object.entries({ plus: file.additions, minus: file.deletions })) {
        const part = make("i", kind);
        part.style.width = `${(count / most) * 100}%`;
        bar.append(part);
      }
      const name = file.oldPath ? `${file.oldPath} → ${file.path}` : file.path;
      const path = make("td", "", make("code", "", name));
      if (file.status !== "modified") path.append(make("span", "dim", ` ${file.status}`));
      if (file.binary)
        return make("tr", "", path, make("td", "dim", "binary"), make("td"), make("td", "", bar));
      const plus = make("td", "plus", `+${file.additions}`);
      return make(
        "tr",
        "",
        path,
        plus,
        make("td", "minus", `−${file.deletions}`),
        make("td", "", bar),
      );
    };

    const fileTable = ({ files, filesOmitted, totals }) => {
      const most = Math.max(1, ...files.map((file) => file.additions + file.deletions));
      const caption = make("caption", "", `${counted(totals.files, "file", "files")} changed `);
      caption.append(make("span", "plus", `+${totals.additions.toLocaleString("en")} `));
      caption.append(make("span", "minus", `−${totals.deletions.toLocaleString("en")}`));
      const body = make("tbody", "", ...files.map((file) => fileRow(file, most)));
      if (filesOmitted > 0) {
        const rest = make("td", "dim", `and ${counted(filesOmitted, "file", "files")} more`);
        rest.colSpan = 4;
        body.append(make("tr", "", rest));
      }
      return make("table", "", caption, body);
    };

    const facts = (commit) => {
      const when = make(
        "time",
        "",
        new Date(commit.date).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" }),
      );
      when.dateTime = commit.date;
      const entries = [
        ["Author", commit.author],
        ["Date", when],
        ["Commit", make("code", "", commit.hash)],
      ];
      if (commit.committer !== commit.author) entries.push(["Committer", commit.committer]);
      const parents = commit.parents
        .map((hash) => hash.slice(0, commit.shortHash.length))
        .join(" ");
      entries.push([
        commit.parents.length > 1 ? "Parents" : "Parent",
        make("code", "", parents || "none, the first commit"),
      ]);
      const list = make("dl");
      for (const [term, value] of entries) list.append(make("dt", "", term), make("dd", "", value));
      if (commit.refs) {
        const refs = commit.refs.map((ref) => make("span", "ref", ref.replace(/^tag: /, "")));
        list.append(make("dt", "", "Refs"), make("dd", "", ...refs));
      }
      return list;
    };

    const drawDetail = (commit, when) => {
      const parts = [make("h2", "", commit.subject || "(no subject)")];
      const body = commit.message.split("\n").slice(1).join("\n").trim();
      if (body) parts.push(make("p", "body", body));
      detail.replaceChildren(...parts, facts(commit), fileTable(commit));
      detail.setAttribute("aria-label", `Commit ${commit.shortHash}`);
      find("status").textContent = `Commit ${commit.shortHash} · Updated ${clock(when)}`;
    };

    // Beside the list where there is room, otherwise under the commit it belongs to.
    const place = () => {
      const row = find("commits").querySelector('[aria-current="true"]');
      (wide.matches || !row ? find("main") : row.parentElement).append(detail);
    };

    const buttons = () => [...find("commits").querySelectorAll("li > button")];

    const mark = (pending) => {
      for (const button of buttons()) {
        button.disabled = pending;
        button.setAttribute("aria-current", String(button.dataset.hash === selected));
      }
      detail.setAttribute("aria-busy", String(pending));
    };

    const open = async (hash, button) => {
      const before = selected;
      selected = hash;
      mark(true);
      let problem = "";
      try {
        drawDetail(await connecta.read("commit", { hash }), Date.now());
      } catch (error) {
        selected = before;
        problem = `Could not read the commit: ${error.message}`;
      }
      mark(false);
      place();
      find("problem").hidden = problem === "";
      find("problem").textContent = problem;
      button.focus({ preventScroll: true });
      if (!wide.matches && !problem) button.scrollIntoView({ block: "start" });
    };

    const commitRow = (commit) => {
      const button = make("button", "", make("strong", "", commit.subject || "(no subject)"));
      const when = make("time", "", day(commit.date));
      when.dateTime = commit.date;
      button.append(
        make("span", "", make("span", "", commit.author), when, make("code", "", commit.shortHash)),
      );
      button.type = "button";
      button.title = commit.subject;
      button.dataset.hash = commit.hash;
      button.addEventListener("click", () => void open(commit.hash, button));
      return make("li", "", button);
    };

    find("commits").append(...commits.map(commitRow));
    const end = `Only the newest ${commits.length} are listed here.`;
    if (more) find("commits").append(make("li", "dim more", end));
    wide.addEventListener("change", place);
    if (!newest) return void (find("status").textContent = "This repository has no commits yet.");
    drawDetail(newest, readAt);
    mark(false);
    place();
  };

  const data = JSON.stringify(initial).replaceAll("<", "\\u003c");
  await connecta.ui(
    `<style>${style}</style>${page}
    <script type="application/json" id="data">${data}</script><script>(${view})()</script>`,
    { reads: { commit: { address: "git.commit", viewArgs: ["hash"] } } },
  );

  return {
    listed: commits.length,
    more,
    opened: newest && { commit: newest.shortHash, subject: newest.subject, ...newest.totals },
  };
};
