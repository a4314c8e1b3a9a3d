import { html } from "hono/html";
import type { IssuedToken, Tokens } from "../../access/inbound/tokens.ts";
import { fail, type Outcome } from "../../shared/failure.ts";
import {
  buttonForm,
  hidden,
  moment,
  told,
  type Markup,
  type Notice,
  type Surroundings,
} from "./markup.ts";

const DAY_MS = 24 * 3_600_000;
const LIFETIMES = { "30": "30 days", "90": "90 days", "365": "A year", never: "Never" } as const;

/** The tokens of callers, and the form that makes one. */
export function tokens(
  around: Surroundings,
  listed: Outcome<readonly IssuedToken[]> | undefined,
): Markup {
  if (listed === undefined) {
    return html`<p class="empty">
      This deployment takes no tokens: <code>auth: { tokens: true }</code> in the config and a store
      make it.
    </p>`;
  }
  const options = Object.entries(LIFETIMES).map(
    ([value, title]) => html`<option value="${value}">${title}</option>`,
  );
  return html`<form method="post" class="card fields inline">
      ${hidden({ form: around.formToken, action: "create" })}
      <div class="field">
        <label for="token-name">Name of a new token</label>
        <input id="token-name" name="name" required maxlength="128" autocomplete="off" placeholder="laptop" />
      </div>
      <div class="field">
        <label for="token-ends">Ends after</label>
        <select id="token-ends" name="ends">${options}</select>
      </div>
      <button class="primary">Create</button>
    </form>
    ${listed.ok ? list(around, listed.value) : html`<p class="notice bad">${listed.failure.message}</p>`}`;
}

function list(around: Surroundings, all: readonly IssuedToken[]): Markup {
  if (all.length === 0) return html`<p class="empty">No token was made.</p>`;
  return html`<ul class="rows card">${all.toReversed().map((token) => row(around, token))}</ul>`;
}

function row(around: Surroundings, token: IssuedToken): Markup {
  const { id, name, createdAt, expiresAt, lastUsedAt } = token;
  const isOver = expiresAt !== undefined && expiresAt <= Date.now();
  return html`<li class="with-action">
    <div>
      <div class="line">
        <b>${told(name)}</b><code>${id}</code>
        ${isOver ? html`<span class="chip warn">expired</span>` : ""}
      </div>
      <p class="quiet">
        made ${moment(createdAt)}, ${expiresAt === undefined ? "does not expire" : html`ends ${moment(expiresAt)}`},
        ${lastUsedAt === undefined ? "never used" : html`used in the hour of ${moment(lastUsedAt)}`}
      </p>
    </div>
    ${buttonForm(
      around,
      { action: "revoke", id },
      html`<button class="ghost danger" data-sure="Revoke the token ${name}?">
        Revoke<span class="unseen"> ${name}</span>
      </button>`,
    )}
  </li>`;
}

/** Does what a form asks for. */
export async function changeToken(store: Tokens, form: URLSearchParams): Promise<Notice> {
  const action = form.get("action");
  const done =
    action === "create"
      ? await create(store, form)
      : action === "revoke"
        ? await revoke(store, form.get("id") ?? "")
        : fail("invalid_args", "The page has no such action.");
  return done.ok ? { kind: "good", ...done.value } : { kind: "bad", text: done.failure.message };
}

type Said = Omit<Notice, "kind">;

async function create(store: Tokens, form: URLSearchParams): Promise<Outcome<Said>> {
  const ends = form.get("ends") ?? "";
  if (!Object.hasOwn(LIFETIMES, ends)) {
    return fail("invalid_args", "Choose one of the times after which a token ends.");
  }
  const name = form.get("name") ?? "";
  const made = await store.create({
    name,
    ...(ends !== "never" && { expiresInMs: Number(ends) * DAY_MS }),
  });
  if (!made.ok) return made;
  const more = html`<p><code class="token" tabindex="0">${made.value.token}</code></p>`;
  return { ok: true, value: { text: `Copy it now: it is shown this once.`, more } };
}

async function revoke(store: Tokens, id: string): Promise<Outcome<Said>> {
  const revoked = await store.revoke(id);
  if (!revoked.ok) return revoked;
  return { ok: true, value: { text: `Token ${id} is revoked: its next request is refused.` } };
}
