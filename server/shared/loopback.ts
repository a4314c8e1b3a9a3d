/** Whether a host, as a URL or a socket has it, is this machine's own and reaches nobody else. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/i, "");
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}
