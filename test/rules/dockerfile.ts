/** One instruction of a Dockerfile, its lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** One stage, from its FROM to the next. */
export interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** What a COPY takes, and from where: the stage, or the context when it names none. */
export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
  /** Whose the copies are; the superuser's when it names nobody. */
  readonly owner?: string;
}

/** Reads a Dockerfile as far as it is written here: no heredocs, no other escape character. */
export function stages(text: string): readonly Stage[] {
  const joined = text.replace(/^\s*#.*\n/gm, "").replace(/\\\n\s*/g, "");
  const found: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of joined.split("\n").filter((line) => line.trim() !== "")) {
    const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    const [, image, stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
    if (name === "FROM" && image !== undefined)
      found.push({ image, name: stage, instructions: [] });
    else found.at(-1)?.instructions.push({ name, text: rest });
  }
  return found;
}

/** The copies of a stage, in order. */
export function copies({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ name }) => name === "COPY")
    .map(({ text }) => {
      const parts = text.split(/\s+/);
      const flag = (name: string) =>
        parts.find((part) => part.startsWith(name))?.slice(name.length);
      const paths = parts.filter((part) => !part.startsWith("--"));
      const owner = flag("--chown=");
      return {
        from: flag("--from="),
        sources: paths.slice(0, -1),
        target: paths.at(-1) ?? "",
        ...(owner !== undefined && { owner }),
      };
    });
}
