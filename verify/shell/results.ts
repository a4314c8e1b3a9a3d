/** A tool result as the server gives it for one envelope. */
function result(envelope: object, isError = false): Record<string, unknown> {
  return {
    content: [{ type: "text", text: JSON.stringify(envelope) }],
    structuredContent: envelope,
    ...(isError && { isError }),
  };
}

/** A success that delivers a view. */
export function viewResult(html: string, reads?: object): Record<string, unknown> {
  const payload = reads ? { html, reads } : { html };
  return { ...result({ result: { shown: true }, ui: true }), _meta: { "connecta/ui": payload } };
}

/** A success whose view a host took away. */
export const droppedResult = result({ result: { shown: true }, ui: true });

/** A success without a view. */
export const plainResult = result({ result: { rows: 3 } });

/** A failed program. */
export const failedResult = result(
  {
    error: {
      code: "program_error",
      message: "<b>total</b> is not defined (line 3, column 9)",
      retryable: false,
    },
  },
  true,
);

/** A payload whose manifest is no object. */
export const malformedResult = {
  ...result({ result: 1, ui: true }),
  _meta: { "connecta/ui": { html: "<p>x</p>", reads: ["refresh"] } },
};

/** What `call_tool` answers in value mode. */
export function valueResult(data: unknown): Record<string, unknown> {
  return result({ ok: true, data });
}

/** How `call_tool` says that the call failed. */
export function callFailure(error: object): Record<string, unknown> {
  return result({ ok: false, error }, true);
}
