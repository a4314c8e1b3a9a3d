/** What stands for what in a file that others wrote; nothing of it is ever told. */
export interface Variables {
  /** The environment: `${NAME}` and `${env:NAME}`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a person would be asked for: `${input:id}`. */
  readonly inputs: (id: string) => string | undefined;
  /** Places, by the name that stands for them: `workspaceFolder`, `userHome` and so on. */
  readonly places: ReadonlyMap<string, string>;
}

const REFERENCE = /\$\{([^{}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Replaces references as it meets them and remembers which of them stand for nothing. */
export class Expansion {
  readonly #variables: Variables;
  readonly #missing = new Set<string>();
  readonly #values = new Set<string>();

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** What is missing, in words: names of variables, never a value. */
  get missing(): readonly string[] {
    return [...this.#missing];
  }

  /** The text with every reference replaced that stands for something. */
  text(written: string): string {
    return written.replace(REFERENCE, (_, reference: string) => {
      const value = this.#lookUp(reference.trim());
      if (value !== undefined && value !== "") this.#values.add(value);
      return value ?? "";
    });
  }

  /** A message without what references stood for. */
  withoutValues(message: string): string {
    return [...this.#values].reduce((text, value) => text.replaceAll(value, "…"), message);
  }

  #lookUp(reference: string): string | undefined {
    const { env, inputs, places } = this.#variables;
    const place = places.get(reference);
    if (place !== undefined) return place;
    const [, kind, name = ""] = /^(env|input):(.*)$/.exec(reference) ?? [
      undefined,
      "env",
      reference,
    ];
    if (kind === "input") {
      return inputs(name) ?? this.#lacks(`the input ${name} (set ${inputVariable(name)})`);
    }
    const at = name.indexOf(":-");
    const variable = at < 0 ? name : name.slice(0, at);
    if (!NAME.test(variable)) return this.#lacks(`\${${reference}}, which means nothing here`);
    const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
    if (at >= 0) return value === undefined || value === "" ? name.slice(at + 2) : value;
    return value ?? this.#lacks(`the variable ${variable}`);
  }

  #lacks(what: string): undefined {
    this.#missing.add(what);
  }
}

/** The variable of the environment that answers a `${input:id}`. */
export function inputVariable(id: string): string {
  return `CONNECTA_INPUT_${id.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase()}`;
}
