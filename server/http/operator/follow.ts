import type { ShownEvent } from "./activity.ts";

interface Page {
  readonly events: readonly ShownEvent[];
  readonly cursor: string;
}

/** What makes the page comfortable; everything but following calls works without it. */
export default function follow(): void {
  const EVERY_MS = 2_000;
  // What a form answered is shown at the page's own address: to load it again must send nothing.
  history.replaceState(null, "", location.href);
  addEventListener("submit", (event) => {
    const asked = event.submitter?.dataset["sure"];
    if (asked !== undefined && !confirm(asked)) event.preventDefault();
  });

  const table = document.querySelector<HTMLTableElement>("#events");
  const box = document.querySelector<HTMLInputElement>("#follow");
  const status = document.querySelector("#following");
  const rows = table?.tBodies[0];
  if (!table || !box || !status || !rows) return;
  box.closest("label")?.removeAttribute("hidden");
  /** Counts how often following began or ended: what an earlier one asked for is dropped. */
  let round = 0;
  const stop = (why: string) => {
    round++;
    box.checked = false;
    status.textContent = why;
  };
  const add = (event: ShownEvent) => {
    const { time, source, address, outcome, isOk, took, caller } = event;
    const row = rows.insertRow(0);
    row.className = "new";
    for (const text of [time, source, address, outcome, took, caller]) {
      const cell = row.insertCell();
      cell.append(Object.assign(document.createElement("bdi"), { textContent: text }));
    }
    row.cells[3]?.classList.add(isOk ? "fine" : "error");
    row.cells[4]?.classList.add("num");
    document.querySelector("#none")?.setAttribute("hidden", "");
    while (rows.rows.length > Number(table.dataset["most"])) rows.deleteRow(-1);
  };
  const ask = async (mine: number): Promise<void> => {
    const query = new URLSearchParams(location.search);
    query.set("after", table.dataset["cursor"] ?? "");
    let said = "Following";
    try {
      const response = await fetch(`${table.dataset["from"]}?${query}`, { redirect: "error" });
      const page = response.ok ? ((await response.json()) as Page) : undefined;
      if (mine !== round) return;
      if (response.status === 401) return stop("Your session is over: sign in again.");
      if (page === undefined) return stop("The calls cannot be read now.");
      table.dataset["cursor"] = page.cursor;
      page.events.forEach(add);
    } catch {
      said = "The server does not answer; trying again.";
    }
    if (mine !== round) return;
    status.textContent = said;
    setTimeout(() => mine === round && void ask(mine), EVERY_MS);
  };
  box.addEventListener("change", () => {
    if (box.checked) void ask(++round);
    else stop("");
  });
}
