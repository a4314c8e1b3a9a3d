import { describe, expect, test } from "vitest";
import { withOperator } from "../../server/node/environment.ts";

const SECRET = "a secret of the operator";

describe("the operator's secret of the environment", () => {
  test("is taken where the config has none", () => {
    const env = { CONNECTA_OPERATOR_SECRET: SECRET };
    expect(withOperator({ connectors: [] }, env).operator).toEqual({ secret: SECRET });
    const own = { connectors: [], operator: { secret: "one of the config's own" } };
    expect(withOperator(own, env)).toBe(own);
  });

  test.each([{}, { CONNECTA_OPERATOR_SECRET: "" }])("opens nothing as %j", (env) => {
    expect(withOperator({ connectors: [] }, env).operator).toBeUndefined();
  });
});
