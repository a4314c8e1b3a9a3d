import { z } from "zod";

/** Of an authorization server's metadata, what is needed after a person was sent there. */
export const SERVER = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  response_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});

/** How an authorization server knows us. */
export const CLIENT = z.object({
  client_id: z.string(),
  /** Never one that stands in the config: that is taken from there at every use. */
  client_secret: z.string().optional(),
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** A client that we registered, and what it was registered for. */
export const REGISTRATION = z.object({
  issuer: z.string(),
  redirectUri: z.string(),
  client: CLIENT,
});

/** A person who was sent to an authorization server and has not come back. */
export const PENDING = z.object({
  server: SERVER,
  client: CLIENT,
  redirectUri: z.string(),
  verifier: z.string(),
  resource: z.string().optional(),
  scope: z.string().optional(),
});

/** What an authorization server granted. */
export const GRANT = z.object({
  server: SERVER,
  client: CLIENT,
  resource: z.string().optional(),
  scope: z.string().optional(),
  account: z.string(),
  /** Absent when the grant has ended; its issuer is remembered all the same. */
  tokens: z
    .object({
      access: z.string(),
      refresh: z.string().optional(),
      /** Milliseconds since the epoch from when on another one is asked for. */
      dueAt: z.number().optional(),
      expiresAt: z.number().optional(),
    })
    .optional(),
});

export type ClientRecord = z.infer<typeof CLIENT>;
export type Pending = z.infer<typeof PENDING>;
export type Grant = z.infer<typeof GRANT>;
export type Tokens = NonNullable<Grant["tokens"]>;

/** Reads a record that we sealed ourselves; one of another version is as good as none. */
export function readRecord<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
