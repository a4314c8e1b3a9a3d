import { afterAll, beforeAll, expect, test } from "vitest";
import { ActivityText } from "../../server/node/activity-text.ts";
import { activityEvent } from "../support/activity.ts";

const zone = process.env.TZ;
beforeAll(() => void (process.env.TZ = "UTC"));
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const time = Date.UTC(2027, 0, 15, 8, 5, 9);
const LONGEST = "destructive_tool_requires_approval";

test("a call is a line with its time, way in, duration, address and end; a day is said once", () => {
  const events = [
    activityEvent({ time, durationMs: 0.42 }),
    activityEvent({
      time: time + 1_000,
      source: "call_destructive_tool",
      address: "crm.update_record",
      durationMs: 15_000,
      outcome: "failed",
      code: "timeout",
    }),
    activityEvent({
      time: time + 86_400_000,
      source: "execute_code",
      durationMs: 312.4,
      attempts: 3,
    }),
  ];
  expect(new ActivityText().of(events)).toBe(
    [
      "2027-01-15",
      "08:05:09  call     0.4 ms  crm.get_record                  ok",
      "08:05:10  write    15.0 s  crm.update_record               timeout",
      "2027-01-16",
      "08:05:09  program  312 ms  crm.get_record                  ok ×3",
      "",
    ].join("\n"),
  );
});

test("the day is not said again where printing goes on", () => {
  const text = new ActivityText();
  text.of([activityEvent({ time })]);
  expect(text.of([activityEvent({ time })])).not.toContain("2027");
});

test.each([80, 120])("no line is longer than %d columns, whatever the address", (columns) => {
  for (const address of [
    "crm.x",
    "a".repeat(128),
    "🦊".repeat(32),
    `crm.${"long_".repeat(20)}end`,
  ]) {
    for (const code of [undefined, LONGEST, "timeout"] as const) {
      const event = activityEvent({ time, address, code, durationMs: 119_999, attempts: 3 });
      const [, line = ""] = new ActivityText(columns).of([event]).split("\n");
      expect([...line].length).toBeLessThanOrEqual(columns);
      expect(line).toMatch(new RegExp(`${code ?? "ok"} ×3$`));
    }
  }
});

test("a long address keeps its start and its end; a wide terminal shows all of it", () => {
  const address = `crm.${"x".repeat(80)}_by_id`;
  const event = activityEvent({ time, address });
  expect(new ActivityText(80).of([event])).toMatch(/ crm\.x+…x+_by_id {2}ok\n$/);
  expect(new ActivityText(200).of([event])).toContain(address);
  expect(new ActivityText(20).of([event])).toBe(new ActivityText(80).of([event]));
});

test("what somebody wrote as an address cannot act on the terminal", () => {
  const address = "crm.\u001b[2J\r\n\u202eevil\u2028";
  const text = new ActivityText().of([activityEvent({ time, address })]);
  expect(text).toContain("crm.\ufffd[2J\ufffd\ufffd\ufffdevil\ufffd");
});
