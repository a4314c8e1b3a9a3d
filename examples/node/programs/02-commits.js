// Commit list — the history of a repository, paged by cursor from inside the view
async () => {
  const [log, branches] = await connecta.batch([
    { address: "git.log", args: { limit: 12 } },
    { address: "git.branches" },
  ]);
  if (!log.ok) throw new Error(log.error.message);
  const branch = branches.ok && branches.data.branches.find(({ current }) => current)?.name;
  const initial = { page: log.data, readAt: Date.now(), branch: branch || "detached HEAD" };

  const style = `
    body { --ink: var(--color-text-primary, light-dark(#1b1e23, #eceef1));
      --dim: var(--color-text-secondary, light-dark(#5b6470, #a3abb6));
      --paper: var(--color-background-primary, light-dark(#ffffff, #17191d));
      --card: var(--color-background-secondary, light-dark(#f5f6f8, #202329));
      --line: var(--color-border-primary, light-dark(#dde1e6, #363b44));
      --blue: light-dark(#2563eb, #82b1ff); --red: light-dark(#c02626, #ff8f87);
      margin: 0; padding: 16px; background: var(--paper); color: var(--ink);
      font: 14px/1.45 var(--font-sans, system-ui, sans-serif); font-variant-numeric: tabular-nums; }
    * { box-sizing: border-box; }
    h1, p { margin: 0; }
    h1 { font-size: 20px; line-height: 1.25; font-weight: 650; }
    .dim { color: var(--dim); font-size: 13px; }
    header, footer { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
    header > div { flex: 1 1 180px; min-width: 0; }
    button, input { font: inherit; color: inherit; min-height: 34px; border-radius: 8px;
      border: 1px solid var(--line); background: var(--card); padding: 5px 14px; }
    button { font-weight: 600; cursor: pointer; }
    button:hover:enabled { border-color: var(--blue); }
    button:disabled { opacity: .5; cursor: default; }
    [aria-busy="true"] ~ footer button:disabled { cursor: progress; }
    input { flex: 0 1 220px; min-width: 0; font-weight: 400; background: var(--paper); }
    input::placeholder { color: var(--dim); opacity: 1; }
    :focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
    #problem { margin-top: 12px; padding: 8px 12px; border-radius: 8px; color: var(--red); border: 1px solid currentColor; }
    .frame { margin: 14px 0 12px; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; transition: opacity .15s; }
    .frame[aria-busy="true"] { opacity: .55; }
    table { width: 100%; border-collapse: collapse; table-layout: fixed; }
    th { padding: 7px 8px; text-align: left; font-size: 13px; font-weight: 600; color: var(--dim); background: var(--card); }
    td { padding: 8px; border-top: 1px solid var(--line); vertical-align: baseline; overflow-wrap: anywhere; }
    th:first-child, td:first-child { padding-left: 14px; }
    th:nth-child(2) { width: 160px; } th:nth-child(3) { width: 120px; } th:nth-child(4) { width: 90px; }
    tbody tr:hover { background: color-mix(in srgb, var(--ink) 4%, transparent); }
    td:first-child { font-weight: 550; }
    td:not(:first-child) { color: var(--dim); font-size: 13px; }
    code { font: 12.5px var(--font-mono, ui-monospace, monospace); }
    .ref { display: inline-block; margin: 0 4px; padding: 0 8px; border-radius: 9px; font-size: 12px; font-weight: 600;
      color: var(--blue); background: color-mix(in srgb, var(--blue) 14%, transparent); }
    .empty { padding: 28px 14px; text-align: center; }
    footer p { flex: 1 1 120px; }
    footer div { display: flex; flex-wrap: wrap; gap: 8px; }
    @media (max-width: 620px) {
      thead { position: absolute; clip-path: inset(50%); }
      tr { display: flex; flex-wrap: wrap; gap: 0 10px; padding: 9px 14px; border-top: 1px solid var(--line); }
      tbody tr:first-child { border-top: 0; }
      td, td:first-child { padding: 0; border: 0; }
      td:first-child { flex: 1 0 100%; }
      header input { flex: 1 1 100%; order: 1; }
    }`;

  const page = `
    <header>
      <div><h1>Commits</h1><p class="dim" id="status" role="status"></p></div>
      <input type="search" id="filter" aria-label="Filter this page" placeholder="Filter this page">
      <button type="button" id="refresh">Refresh</button>
    </header>
    <p id="problem" role="alert" hidden></p>
    <div class="frame" id="frame"><table aria-label="Commits">
      <thead><tr><th scope="col">Subject</th><th scope="col">Author</th><th scope="col">When</th><th scope="col">Commit</th></tr></thead>
      <tbody id="commits"></tbody></table><p class="dim empty" id="empty" hidden></p></div>
    <footer>
      <p class="dim" id="range"></p>
      <div><button type="button" id="previous">Previous page</button><button type="button" id="next">Next page</button></div>
    </footer>`;

  // Runs in the view, so it closes over nothing of this program.
  const view = () => {
    const find = (id) => document.getElementById(id);
    const { page: first, readAt, branch } = JSON.parse(find("data").textContent);
    // Pages hang on the commit that the first one began with, so the ones kept stay true.
    let pages = [{ ...first, readAt }];
    let at = 0;
    let pending = false;

    const make = (name, className, text) => {
      const element = document.createElement(name);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      return element;
    };
    const clock = (when) => new Date(when).toLocaleTimeString("en-GB");
    const ago = (date) => {
      const seconds = (new Date(date).getTime() - Date.now()) / 1000;
      const units = {
        year: 31_557_600,
        month: 2_629_800,
        week: 604_800,
        day: 86_400,
        hour: 3_600,
        minute: 60,
      };
      const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
      const [unit, span] = Object.entries(units).find(([, span]) => Math.abs(seconds) >= span) ?? [
        "second",
        1,
      ];
      return words.format(Math.round(seconds / span), unit);
    };

    const commitRow = (commit) => {
      const row = make("tr");
      const subject = make("td", "", commit.subject || "(no subject)");
      for (const ref of commit.refs ?? [])
        subject.append(" ", make("span", "ref", ref.replace(/^tag: /, "")));
      const when = make("time", "", ago(commit.date));
      when.dateTime = commit.date;
      when.title = new Date(commit.date).toLocaleString();
      const cells = [make("td", "", commit.author), make("td"), make("td")];
      cells[1].append(when);
      cells[2].append(make("code", "", commit.shortHash));
      row.append(subject, ...cells);
      return row;
    };

    const drawRows = () => {
      const wanted = find("filter").value.trim().toLowerCase();
      const { commits } = pages[at];
      const shown = commits.filter((commit) =>
        `${commit.subject} ${commit.author} ${commit.hash} ${commit.refs ?? ""}`
          .toLowerCase()
          .includes(wanted),
      );
      find("commits").replaceChildren(...shown.map(commitRow));
      find("empty").hidden = shown.length > 0;
      find("empty").textContent =
        commits.length > 0 ? "Nothing on this page matches." : "No commits yet.";
    };

    const draw = () => {
      const { commits, offset, nextCursor, readAt: when } = pages[at];
      drawRows();
      find("status").textContent = `Page ${at + 1} of ${branch} · Updated ${clock(when)}`;
      const end = nextCursor ? "" : " · the end";
      find("range").textContent =
        commits.length > 0 ? `${offset + 1}–${offset + commits.length}${end}` : "";
      find("frame").setAttribute("aria-busy", String(pending));
      find("refresh").disabled = pending;
      find("previous").disabled = pending || at === 0;
      find("next").disabled = pending || !nextCursor;
    };

    const other = { next: "previous", previous: "next" };
    // A control that was disabled meanwhile has lost the focus; at an end its neighbour takes it.
    const refocus = (control) => {
      const heir = control?.disabled ? find(other[control.id]) : control;
      heir?.focus();
    };

    const read = async (control, args, accept) => {
      if (pending) return;
      const focused = document.activeElement;
      pending = true;
      draw();
      let problem = "";
      try {
        const page = await connecta.read("page", args);
        find("filter").value = "";
        accept({ ...page, readAt: Date.now() });
      } catch (error) {
        const hint =
          error.code === "not_found" ? " Refresh starts again at the newest commit." : "";
        problem = `${control} failed: ${error.message}${hint}`;
      }
      pending = false;
      find("problem").hidden = problem === "";
      find("problem").textContent = problem;
      draw();
      refocus(focused);
    };

    find("refresh").addEventListener("click", () =>
      read("Refresh", {}, (page) => {
        pages = [page];
        at = 0;
      }),
    );
    const turnTo = (page) => {
      const focused = document.activeElement;
      at = page;
      draw();
      refocus(focused);
    };
    find("next").addEventListener("click", () => {
      if (at + 1 < pages.length) return turnTo(at + 1);
      return read("Next page", { cursor: pages[at].nextCursor }, (page) => {
        pages.push(page);
        at++;
      });
    });
    find("previous").addEventListener("click", () => turnTo(Math.max(0, at - 1)));
    find("filter").addEventListener("input", drawRows);
    draw();
  };

  const data = JSON.stringify(initial).replaceAll("<", "\\u003c");
  await connecta.ui(
    `<style>${style}</style>${page}
    <script type="application/json" id="data">${data}</script><script>(${view})()</script>`,
    { reads: { page: { address: "git.log", fixedArgs: { limit: 12 }, viewArgs: ["cursor"] } } },
  );

  return {
    branch: initial.branch,
    shown: log.data.commits.length,
    more: log.data.nextCursor !== undefined,
    newest: log.data.commits.slice(0, 3).map(({ shortHash, subject }) => `${shortHash} ${subject}`),
  };
};
