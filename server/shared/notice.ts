/**
 * Something that an operator should read in full and act on. Its text is ours: it names options,
 * connectors and tools, and never holds an argument, a result or a credential.
 */
export class Notice extends Error {
  override readonly name = "Notice";
}
