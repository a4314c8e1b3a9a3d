import { fail, ok, type Outcome } from "../shared/failure.ts";
import type { KeepOptions, Storage } from "../shared/storage.ts";
import { toUtf8 } from "../shared/text.ts";
import { fromBase64, importKey, toBase64Url, type VaultKey } from "./keys.ts";

/** A mark at the start of a value is a part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Where a value is sealed for: no other place can open it. */
export interface Place {
  readonly purpose: "field" | "grant" | "client" | "state";
  readonly connector: string;
  /** A field's name, or what else tells values of one purpose apart. */
  readonly field: string;
}

/** A value that was opened. */
export interface Opened {
  readonly text: string;
  /** As it stands in the store, to replace exactly this. */
  readonly sealed: string;
}

/** What sealing everything anew came to. */
export interface Rotation {
  /** Sealed by the current key already. */
  readonly current: number;
  readonly resealed: number;
  /** What no key of the vault opens, as `connector field`. */
  readonly unreadable: readonly string[];
}

const PREFIX = "vault/";
const VERSION = "v1";
const NONCE_BYTES = 12;
const ALGORITHM = "AES-GCM";
/** More is left to the store. */
const MAX_REMEMBERED = 512;

/**
 * Values in a store that only this deployment's keys open, each bound to the place that it was
 * sealed for. What an older key sealed is sealed anew when it is read.
 */
export class Vault {
  readonly #storage: Storage;
  readonly #keys: Promise<readonly VaultKey[]>;
  /** Opening costs more than reading; what changed in the store is opened anew. */
  readonly #opened = new Map<string, Opened>();

  /** @param keys their bytes, the one to seal with first */
  constructor(storage: Storage, keys: readonly Uint8Array<ArrayBuffer>[]) {
    this.#storage = storage;
    this.#keys = Promise.all(keys.map(importKey));
  }

  /**
   * The value of a place, `undefined` where there is none.
   * Failures: `connector_call_failed` where no key opens it, and those of the store.
   */
  async read(place: Place): Promise<Outcome<Opened | undefined>> {
    const key = keyOf(place);
    const stored = await this.#storage.get(key);
    if (!stored.ok) return stored;
    const sealed = stored.value;
    if (sealed === undefined) {
      this.#opened.delete(key);
      return ok(undefined);
    }
    const known = this.#opened.get(key);
    if (known?.sealed === sealed) return ok(known);
    const opened = await this.open(place, sealed);
    if (!opened.ok) return opened;
    return ok(await this.#fresh(place, { text: opened.value, sealed }));
  }

  /** Seals a value and puts it there, whatever was there. */
  async write(place: Place, text: string, options: KeepOptions = {}): Promise<Outcome<void>> {
    return this.#storage.set(keyOf(place), await this.#seal(place, text), options);
  }

  /**
   * Seals a value and puts it there if what is there is still what was opened.
   * @param before `undefined` expects nothing
   * @returns whether it was written
   */
  async replace(place: Place, before: Opened | undefined, text: string): Promise<Outcome<boolean>> {
    const sealed = await this.#seal(place, text);
    return this.#storage.compareAndSet(keyOf(place), before?.sealed, sealed);
  }

  /** Removes the value of a place. */
  remove(place: Place): Promise<Outcome<void>> {
    this.#opened.delete(keyOf(place));
    return this.#storage.delete(keyOf(place));
  }

  /**
   * Opens a sealed text that belongs to a place.
   * Failure: `connector_call_failed`, which says whether the key is another or the text is.
   */
  async open(place: Place, sealed: string): Promise<Outcome<string>> {
    const [version, id, nonce, content, ...rest] = sealed.split(".");
    const iv = fromBase64(nonce ?? "");
    const bytes = fromBase64(content ?? "");
    if (version !== VERSION || rest.length > 0 || iv?.length !== NONCE_BYTES || !bytes) {
      return altered(place);
    }
    const key = (await this.#keys).find((one) => one.id === id);
    if (key === undefined) return wrongKey(place);
    try {
      const algorithm = { name: ALGORITHM, iv, additionalData: boundTo(place) };
      return ok(decoder.decode(await crypto.subtle.decrypt(algorithm, key.key, bytes)));
    } catch {
      return altered(place);
    }
  }

  /**
   * Seals everything with the current key, so that the older ones are needed no more.
   * Failures: those of the store, and `unavailable` while it does not take what was sealed anew.
   */
  async rotate(): Promise<Outcome<Rotation>> {
    const found = { current: 0, resealed: 0, unreadable: [] as string[] };
    const { id } = await this.#current();
    for (let after = ""; ;) {
      const page = await this.#storage.list(PREFIX, after === "" ? {} : { after });
      if (!page.ok) return page;
      for (const key of page.value) {
        const place = placeOf(key);
        const stored = place && (await this.#storage.get(key));
        if (stored?.ok === false) return stored;
        const isCurrent = stored?.value?.startsWith(`${VERSION}.${id}.`) === true;
        if (isCurrent) found.current++;
        if (!place || stored?.value === undefined || isCurrent) continue;
        const opened = await this.open(place, stored.value);
        if (!opened.ok) found.unreadable.push(`${place.connector} ${place.field}`);
        else if (await this.#reseal(place, { text: opened.value, sealed: stored.value })) {
          found.resealed++;
        } else return notTaken();
      }
      const last = page.value.at(-1);
      if (last === undefined) return ok(found);
      after = last;
    }
  }

  async #seal(place: Place, text: string): Promise<string> {
    const { id, key } = await this.#current();
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const algorithm = { name: ALGORITHM, iv, additionalData: boundTo(place) };
    const content = await crypto.subtle.encrypt(algorithm, key, toUtf8(text));
    return [VERSION, id, toBase64Url(iv), toBase64Url(new Uint8Array(content))].join(".");
  }

  /** Seals anew what an older key sealed; a store that refuses leaves it as it is. */
  async #fresh(place: Place, opened: Opened): Promise<Opened> {
    const { id } = await this.#current();
    if (opened.sealed.startsWith(`${VERSION}.${id}.`)) return this.#remember(place, opened);
    // What expires is gone soon enough, and would lose its time.
    if (place.purpose === "state") return opened;
    return (await this.#reseal(place, opened)) ?? this.#remember(place, opened);
  }

  async #reseal(place: Place, { text, sealed: former }: Opened): Promise<Opened | undefined> {
    const sealed = await this.#seal(place, text);
    const written = await this.#storage.compareAndSet(keyOf(place), former, sealed);
    return written.ok && written.value ? this.#remember(place, { text, sealed }) : undefined;
  }

  #remember(place: Place, opened: Opened): Opened {
    if (place.purpose === "state") return opened;
    if (this.#opened.size >= MAX_REMEMBERED) this.#opened.clear();
    this.#opened.set(keyOf(place), opened);
    return opened;
  }

  async #current(): Promise<VaultKey> {
    const [current] = await this.#keys;
    if (current === undefined) throw new Error("A vault has at least one key.");
    return current;
  }
}

/** The key of the store under which a place's value lies. */
export function keyOf({ purpose, connector, field }: Place): string {
  return `${PREFIX}${purpose}/${connector}/${field}`;
}

function placeOf(key: string): Place | undefined {
  const [purpose, connector, field, ...rest] = key.slice(PREFIX.length).split("/");
  if (connector === undefined || field === undefined || rest.length > 0) return undefined;
  switch (purpose) {
    case "field":
    case "grant":
    case "client":
      return { purpose, connector, field };
    default:
      return undefined;
  }
}

/** JSON, so that no two places have one text. */
function boundTo({ purpose, connector, field }: Place): Uint8Array<ArrayBuffer> {
  return toUtf8(JSON.stringify(["connecta", VERSION, purpose, connector, field]));
}

function wrongKey({ connector }: Place): Outcome<never> {
  return fail(
    "connector_call_failed",
    `The credential of ${connector} was sealed with another key than vault.key ` +
      "(CONNECTA_VAULT_KEY): the operator puts the former key back or into vault.previousKeys, " +
      "or hands the credential over anew.",
    { connector },
  );
}

function notTaken(): Outcome<never> {
  return fail(
    "unavailable",
    "The store does not take a value that was sealed anew: keep the former key and try again.",
  );
}

function altered({ connector }: Place): Outcome<never> {
  return fail(
    "connector_call_failed",
    `The stored credential of ${connector} is not as it was sealed for it: ` +
      "the operator hands it over anew.",
    { connector },
  );
}
