declare module "virtual:connecta-shell" {
  /** The built shell, or `undefined` in a server built without it. */
  const html: string | undefined;
  export default html;
  /** The version in the shell's address. */
  export const version: number;
}

declare module "*?travel" {
  /** A function expression that closes over nothing. */
  const source: string;
  export default source;
}
