// Weekdays — reduces up to 500 commits to one small answer, with reads running side by side
async () => {
  const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

  // Each page needs the cursor of the one before; the other reads need not wait for them.
  const recentCommits = async () => {
    const commits = [];
    for (let page, pages = 0; pages < 5 && (!page || page.nextCursor); pages++) {
      const cursor = page?.nextCursor;
      page = await connecta.call("git.log", cursor ? { limit: 100, cursor } : { limit: 100 });
      commits.push(...page.commits);
    }
    return commits;
  };
  const [commits, [authors, branches]] = await Promise.all([
    recentCommits(),
    connecta.batch([
      { address: "git.authors", args: { limit: 5 } },
      { address: "git.branches", args: { limit: 5 } },
    ]),
  ]);

  const byWeekday = Object.fromEntries(days.map((day) => [day, 0]));
  for (const { date } of commits) {
    byWeekday[days[new Date(`${date.slice(0, 10)}T00:00:00Z`).getUTCDay()]]++;
  }
  console.log(`read ${commits.length} commits`);

  return {
    counted: commits.length,
    newest: commits.at(0)?.date,
    oldest: commits.at(-1)?.date,
    byWeekday,
    topAuthors: authors.ok ? authors.data.authors : authors.error.code,
    branches: branches.ok ? branches.data.branches.map(({ name }) => name) : branches.error.code,
  };
};
