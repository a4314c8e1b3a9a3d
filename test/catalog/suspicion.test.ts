import { describe, expect, test } from "vitest";
import { suspicion } from "../../server/catalog/suspicion.ts";
import { fakeTool } from "../support/catalog.ts";

const READ = { readOnlyHint: true };

/** A tool with as little as decides about it. */
function said(name: string, parts: Parameters<typeof fakeTool>[1] = {}): string | undefined {
  return suspicion(fakeTool(name, { annotations: READ, description: "", ...parts }));
}

const choosing = (parameter: string, ...values: string[]) => ({
  inputSchema: {
    type: "object",
    properties: { [parameter]: { type: "string", enum: values } },
  },
});

describe("C3: a tool that counts as read-only is suspicious", () => {
  test.each([
    ["send_mail", "send"],
    ["mail_send", "send"],
    ["SmsSendV2", "send"],
    ["crm-create-contact", "create"],
    ["deleteRepository", "delete"],
    ["delete_list", "delete"],
    ["update_view", "update"],
    ["pay_invoice", "pay"],
    ["domain_purchase", "purchase"],
    ["run_report", "run"],
  ])("when it is called %s", (name, verb) => {
    expect(said(name)).toContain(`its name says "${verb}"`);
  });

  test.each([
    ["list_orders"],
    ["get_archive"],
    ["deploy_logs_get"],
    ["file_share_list"],
    ["generate_chart"],
    ["resolve_library_id"],
    ["whoami"],
    ["showMessages"],
  ])("but not when it is called %s", (name) => {
    expect(said(name)).toBeUndefined();
  });

  test("when a parameter lets it do something else", () => {
    const tool = choosing("action", "list", "delete_all");
    expect(said("contexts", tool)).toContain('can be told to "delete_all"');
    expect(said("contexts", choosing("action", "list", "get"))).toBeUndefined();
    expect(said("contexts", choosing("colour", "list", "delete"))).toBeUndefined();
  });

  test("when its name says nothing and its description begins with a verb of writing", () => {
    expect(said("buckets", { description: "Creates a bucket." })).toContain('"creates"');
    expect(said("buckets", { description: "Lists buckets." })).toBeUndefined();
    expect(said("get_bucket", { description: "Created buckets only." })).toBeUndefined();
  });

  test("only while it does count as read-only", () => {
    expect(said("send_mail", { annotations: {} })).toBeUndefined();
    expect(said("send_mail", { annotations: { readOnlyHint: false } })).toBeUndefined();
  });
});

describe("C3: a tool that carries out whatever it is given is suspicious, whatever its class", () => {
  test.each([
    "execute_tool",
    "run_command",
    "execute_sql",
    "graph-batch",
    "kubectl_generic",
    "exec_in_pod",
    "batchCommands",
    "evaluate_script",
    "http_request",
  ])("%s", (name) => {
    expect(said(name, { annotations: {} })).toBe("carries out whatever it is given");
  });

  test.each(["batch_delete_emails", "genai-batch-list", "create_request", "get_query", "run"])(
    "%s is not",
    (name) => expect(said(name, { annotations: {} })).toBeUndefined(),
  );

  test("one that takes a method and a path, or is a method and takes a path", () => {
    const takes = (...names: string[]) => ({
      annotations: {},
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
      },
    });
    expect(said("graph", takes("method", "path"))).toBeDefined();
    expect(said("jira_delete", takes("path"))).toBeDefined();
    expect(said("jira_delete", takes("id"))).toBeUndefined();
    expect(said("create_webhook", takes("method", "url"))).toBeUndefined();
  });

  test.each([[{}], [{ properties: 7 }], [{ properties: { action: null } }]])(
    "a schema like %j is survived",
    (inputSchema) => expect(said("x", { inputSchema })).toBeUndefined(),
  );
});
