// Largest files — the ten largest, with a button that looks again
async () => {
  const { total, files } = await connecta.call("files.list", { limit: 10 });

  // Runs in the view, so it closes over nothing of this program.
  const view = () => {
    const draw = ({ files }) => {
      const rows = files.map(({ name, bytes }) => {
        const row = document.createElement("tr");
        for (const text of [name, `${Math.ceil(bytes / 1024)} KiB`]) {
          row.append(Object.assign(document.createElement("td"), { textContent: text }));
        }
        return row;
      });
      document.querySelector("tbody").replaceChildren(...rows);
    };
    const status = document.querySelector("[role=status]");
    document.querySelector("button").onclick = async () => {
      try {
        draw(await connecta.read("again"));
        status.textContent = `Read at ${new Date().toLocaleTimeString()}`;
      } catch (error) {
        status.textContent = error.message;
      }
    };
    draw(JSON.parse(document.getElementById("data").textContent));
  };

  const data = JSON.stringify({ files }).replaceAll("<", "\\u003c");
  await connecta.ui(
    `<h2>The largest of ${total} files</h2>
    <table><tbody></tbody></table>
    <button type="button">Look again</button> <span role="status"></span>
    <script type="application/json" id="data">${data}</script><script>(${view})()</script>`,
    { reads: { again: { address: "files.list", fixedArgs: { limit: 10 } } } },
  );
  return { total, largest: files[0]?.name };
};
