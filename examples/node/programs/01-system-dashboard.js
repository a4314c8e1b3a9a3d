// System dashboard — live CPU, memory, load, disks and processes of this machine, with Refresh
async () => {
  // A few readings in a row give the curves a beginning.
  const readings = [];
  for (let count = 0; count < 4; count++) readings.push(await connecta.call("system.overview"));
  const latest = readings[readings.length - 1];

  const style = `
    body { --ink: var(--color-text-primary, light-dark(#1b1e23, #eceef1));
      --dim: var(--color-text-secondary, light-dark(#5b6470, #a3abb6));
      --paper: var(--color-background-primary, light-dark(#ffffff, #17191d));
      --card: var(--color-background-secondary, light-dark(#f5f6f8, #202329));
      --line: var(--color-border-primary, light-dark(#dde1e6, #363b44));
      --blue: light-dark(#2563eb, #82b1ff); --violet: light-dark(#7c3aed, #c4a5ff);
      --teal: light-dark(#0f766e, #5fd4c4); --amber: light-dark(#b45309, #f6b95c);
      --red: light-dark(#c02626, #ff8f87); --off: light-dark(#8a939e, #5d6570);
      margin: 0; padding: 16px; background: var(--paper); color: var(--ink);
      font: 14px/1.45 var(--font-sans, system-ui, sans-serif); font-variant-numeric: tabular-nums; }
    * { box-sizing: border-box; }
    h1, h2, p, dl, dd, figure { margin: 0; }
    h1 { font-size: 20px; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
    h2, dt { font-size: 13px; font-weight: 600; color: var(--dim); }
    .dim { color: var(--dim); font-size: 13px; }
    header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
    header > div:first-child { flex: 1 1 220px; min-width: 0; }
    .controls { display: flex; gap: 12px; align-items: center; }
    button { font: inherit; color: inherit; cursor: pointer; }
    #refresh { padding: 6px 14px; font-weight: 600; border-radius: 8px; min-height: 34px;
      background: var(--card); border: 1px solid var(--line); }
    #refresh:hover:enabled { border-color: var(--blue); }
    button:disabled { opacity: .55; cursor: progress; }
    :focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
    label { display: inline-flex; gap: 8px; align-items: center; cursor: pointer; min-height: 34px; }
    input { appearance: none; width: 34px; height: 20px; margin: 0; border-radius: 10px; cursor: inherit;
      background: radial-gradient(circle at 10px, #fff 7px, transparent 7.5px), var(--off); }
    input:checked { background: radial-gradient(circle at 24px, #fff 7px, transparent 7.5px), light-dark(#2563eb, #3b76f0); }
    #status { margin: 6px 0 14px; }
    #problem { margin: 0 0 14px; padding: 8px 12px; border-radius: 8px; color: var(--red);
      border: 1px solid currentColor; }
    .cards { display: flex; flex-wrap: wrap; gap: 12px; }
    .card, .panel { border: 1px solid var(--line); border-radius: 12px; background: var(--card); padding: 12px 14px; min-width: 0; }
    .card { flex: 1 1 130px; display: flex; flex-direction: column; overflow: hidden; padding-bottom: 0; }
    .card dd.big { font-size: 30px; line-height: 1.2; font-weight: 650; letter-spacing: -.02em; }
    .card svg { display: block; width: calc(100% + 28px); height: 56px; margin: 8px -14px 0; overflow: visible; }
    .area { fill: currentColor; opacity: .14; }
    .curve { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
    .panels { display: grid; gap: 12px; margin-top: 12px; align-items: start;
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); }
    .side { display: grid; gap: 12px; }
    .panel h2 { margin-bottom: 8px; }
    .meter { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 3px 12px; padding: 3px 0; align-items: baseline; }
    .meter > :first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .track { grid-column: 1 / -1; height: 6px; border-radius: 3px; overflow: hidden;
      background: color-mix(in srgb, var(--ink) 10%, transparent); }
    .track i { display: block; height: 100%; border-radius: 3px; background: currentColor; transition: width .3s; }
    #cores { display: grid; gap: 2px 18px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 110px), 1fr)); }
    table { width: 100%; border-collapse: collapse; table-layout: fixed; }
    th { padding: 0 4px 4px 0; text-align: right; font-size: 13px; font-weight: 600; color: var(--dim); }
    th:first-child, td:first-child { text-align: left; }
    th:not(:first-child) { width: 88px; }
    th button { padding: 2px 4px; margin: -2px -4px; border: 0; border-radius: 4px; background: none; font-weight: 600; }
    th button:hover { color: var(--ink); }
    [aria-sort="descending"] button { color: var(--ink); }
    [aria-sort="descending"] button::after { content: " \\2193"; }
    td { padding: 5px 4px 5px 0; border-top: 1px solid var(--line); text-align: right; }
    td:not(:first-child) { --tint: color-mix(in srgb, var(--bar) 22%, transparent);
      background: linear-gradient(var(--tint), var(--tint)) right center / var(--share) calc(100% - 9px) no-repeat; }
    td:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    td small { color: var(--dim); font-size: 12px; margin-left: 6px; }
    @media (max-width: 420px) { td small { display: none; } th:not(:first-child) { width: 74px; } }
    @media (prefers-reduced-motion: reduce) { .track i { transition: none; } }`;

  const card = (id, title, colour) => `
    <div class="card"><dt>${title}</dt><dd class="big" id="${id}"></dd><dd class="dim" id="${id}-note"></dd>
      <dd style="margin-top:auto;color:var(--${colour})"><svg viewBox="0 0 100 40" preserveAspectRatio="none"
        role="img" id="${id}-curve"><path class="area"/><path class="curve"/></svg></dd></div>`;

  const page = `
    <header>
      <div><h1 id="host"></h1><p class="dim" id="machine"></p></div>
      <div class="controls">
        <label><input type="checkbox" role="switch" id="live"> Live</label>
        <button type="button" id="refresh">Refresh</button>
      </div>
    </header>
    <p class="dim" id="status" role="status"></p>
    <p id="problem" role="alert" hidden></p>
    <main>
      <dl class="cards">${card("cpu", "CPU", "blue")}${card("memory", "Memory", "violet")}${card("load", "Load average", "teal")}</dl>
      <div class="panels">
        <section class="panel"><h2 id="processes-title"></h2>
          <table aria-labelledby="processes-title"><thead><tr><th scope="col">Name</th>
            <th scope="col" id="by-cpu"><button type="button">CPU</button></th>
            <th scope="col" id="by-memory"><button type="button">Memory</button></th></tr></thead>
            <tbody id="processes"></tbody></table></section>
        <div class="side">
          <section class="panel"><h2>Cores</h2><div id="cores"></div></section>
          <section class="panel"><h2>Disks</h2><div id="disks"></div></section>
        </div>
      </div>
    </main>`;

  // Runs in the view, so it closes over nothing of this program.
  const view = () => {
    const KEPT = 60;
    const LIVE_EVERY_MS = 5_000;
    const LIVE_READINGS = 120;
    const find = (id) => document.getElementById(id);
    const history = JSON.parse(find("data").textContent);
    let sortBy = "cpuPercent";
    let liveLeft = LIVE_READINGS;
    let timer;

    const put = (id, text) => (find(id).textContent = text);
    const clock = (when) => new Date(when).toLocaleTimeString("en-GB");
    const percent = (value) => `${value.toFixed(value < 10 ? 1 : 0)}%`;
    const make = (name, className, text) => {
      const element = document.createElement(name);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      return element;
    };
    const size = (bytes) => {
      const units = ["B", "KiB", "MiB", "GiB", "TiB"];
      const step = Math.max(0, Math.min(4, Math.floor(Math.log2(bytes || 1) / 10)));
      const value = bytes / 1024 ** step;
      return `${value.toFixed(value < 10 && step > 0 ? 1 : 0)} ${units[step]}`;
    };
    const duration = (seconds) => {
      const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24];
      const minutes = Math.floor(seconds / 60) % 60;
      return days > 0
        ? `${days} d ${hours} h`
        : hours > 0
          ? `${hours} h ${minutes} min`
          : `${minutes} min`;
    };

    const drawCurve = (id, what, values, top) => {
      const x = (index) => (values.length > 1 ? (index / (values.length - 1)) * 100 : 100);
      const y = (value) => 38 - Math.min(1, value / top) * 34;
      const points = values.map((value, index) => `${x(index).toFixed(2)},${y(value).toFixed(2)}`);
      if (points.length === 1) points.unshift(`0,${y(values[0]).toFixed(2)}`);
      const svg = find(`${id}-curve`);
      svg.querySelector(".curve").setAttribute("d", `M${points.join("L")}`);
      svg.querySelector(".area").setAttribute("d", `M0,40L${points.join("L")}L100,40Z`);
      svg.setAttribute("aria-label", `${what} over the last ${values.length} readings`);
    };

    const meter = (label, value, share) => {
      const row = make("div", "meter");
      const track = make("div", "track");
      const bar = make("i");
      bar.style.width = `${Math.min(100, share)}%`;
      track.style.color = share >= 90 ? "var(--red)" : share >= 75 ? "var(--amber)" : "var(--blue)";
      track.append(bar);
      const name = make("span", "", label);
      name.title = label;
      row.append(name, make("span", "dim", value), track);
      return row;
    };

    const drawProcesses = () => {
      const { processes, processCount } = history.at(-1);
      put("processes-title", `Top of ${processCount} processes`);
      find("by-cpu").setAttribute("aria-sort", sortBy === "cpuPercent" ? "descending" : "none");
      find("by-memory").setAttribute("aria-sort", sortBy === "memoryBytes" ? "descending" : "none");
      const sorted = processes.toSorted(
        (a, b) => b[sortBy] - a[sortBy] || b.memoryBytes - a.memoryBytes,
      );
      const measure = (process, key, text, colour) => {
        const cell = make("td", "", text);
        const most = Math.max(...processes.map((other) => other[key])) || 1;
        cell.style.setProperty("--share", `${(process[key] / most) * 88}%`);
        cell.style.setProperty("--bar", `var(--${colour})`);
        return cell;
      };
      const lines = sorted.slice(0, 8).map((process) => {
        const row = make("tr");
        const name = make("td", "", process.name);
        name.append(make("small", "", String(process.pid)));
        row.append(
          name,
          measure(process, "cpuPercent", percent(process.cpuPercent), "blue"),
          measure(process, "memoryBytes", size(process.memoryBytes), "violet"),
        );
        return row;
      });
      find("processes").replaceChildren(...lines);
    };

    const draw = () => {
      const now = history.at(-1);
      const { cpu, memory, load } = now;
      put("host", now.host);
      put(
        "machine",
        `${now.platform} ${now.release} · ${cpu.model} · up ${duration(now.uptimeSeconds)}`,
      );
      const cpuValues = history.map((reading) => reading.cpu.usedPercent);
      const peak = Math.max(...cpuValues);
      put("cpu", percent(cpu.usedPercent));
      put("cpu-note", `${now.cores} cores · peak ${percent(peak)}`);
      drawCurve("cpu", "CPU use", cpuValues, Math.max(20, peak * 1.15));
      put("memory", percent(memory.usedPercent));
      put("memory-note", `${size(memory.usedBytes)} of ${size(memory.totalBytes)}`);
      drawCurve(
        "memory",
        "Memory use",
        history.map((reading) => reading.memory.usedPercent),
        100,
      );
      const loads = history.map((reading) => reading.load.one);
      put("load", load.one.toFixed(2));
      put("load-note", `${load.five.toFixed(2)} in 5 min · ${load.fifteen.toFixed(2)} in 15 min`);
      drawCurve("load", "Load average", loads, Math.max(now.cores, ...loads));
      find("cores").replaceChildren(
        ...cpu.perCorePercent.map((share, core) => meter(`Core ${core}`, percent(share), share)),
      );
      find("disks").replaceChildren(
        ...now.disks.map((disk) =>
          meter(
            disk.mount,
            `${size(disk.availableBytes)} free of ${size(disk.totalBytes)}`,
            disk.usedPercent,
          ),
        ),
      );
      drawProcesses();
      put("status", `System overview · Updated ${clock(now.readAt)}`);
    };

    const schedule = () => {
      clearTimeout(timer);
      if (find("live").checked) timer = setTimeout(() => void tick(), LIVE_EVERY_MS);
    };

    const refresh = async (announced) => {
      const button = find("refresh");
      if (button.disabled) return;
      // A screen reader is not told about every automatic reading.
      find("status").setAttribute("aria-live", announced ? "polite" : "off");
      const focused = document.activeElement === button;
      clearTimeout(timer);
      button.disabled = true;
      try {
        history.push(await connecta.read("overview"));
        history.splice(0, history.length - KEPT);
        find("problem").hidden = true;
        draw();
      } catch (error) {
        find("live").checked = false;
        find("problem").hidden = false;
        const shown = clock(history.at(-1).readAt);
        put("problem", `Could not refresh: ${error.message} Below is the reading of ${shown}.`);
      }
      button.disabled = false;
      if (focused) button.focus();
      schedule();
    };

    const tick = async () => {
      // Nobody looks at a hidden page, and nobody should be read for ever.
      if (document.hidden) return schedule();
      liveLeft--;
      if (liveLeft <= 0) find("live").checked = false;
      await refresh(false);
    };

    find("refresh").addEventListener("click", () => void refresh(true));
    find("live").addEventListener("change", () => {
      liveLeft = LIVE_READINGS;
      schedule();
    });
    for (const [id, key] of Object.entries({
      "by-cpu": "cpuPercent",
      "by-memory": "memoryBytes",
    })) {
      find(id).firstElementChild.addEventListener("click", () => {
        sortBy = key;
        drawProcesses();
      });
    }
    find("live").checked = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    draw();
    schedule();
  };

  const data = JSON.stringify(readings).replaceAll("<", "\\u003c");
  await connecta.ui(
    `<style>${style}</style>${page}
    <script type="application/json" id="data">${data}</script><script>(${view})()</script>`,
    { reads: { overview: { address: "system.overview" } } },
  );

  const [busiest] = latest.processes;
  return {
    host: latest.host,
    readAt: latest.readAt,
    cpuPercent: latest.cpu.usedPercent,
    memoryPercent: latest.memory.usedPercent,
    load: latest.load,
    fullestDiskPercent: Math.max(0, ...latest.disks.map((disk) => disk.usedPercent)),
    busiest: busiest && `${busiest.name} (${busiest.cpuPercent}% of a core)`,
  };
};
