// Refused write — fails on purpose: a program may not call a tool that changes something
async () => {
  const { tools } = await connecta.search({ query: "create tag", safety: "approvalRequired" });
  console.log(`Needs approval: ${tools.map(({ address }) => address).join(", ")}`);

  const before = await connecta.call("git.scratch_tags");
  console.log(`Tags in the scratch repository: ${before.tags.length}`);

  // Not caught, so the answer is the typed failure, with the call that a person may approve.
  await connecta.call("git.create_tag", { name: "from-a-program" });
  return "never reached";
};
