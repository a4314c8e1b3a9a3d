import type { ConnectaConfig } from "../config.ts";

/** A config with the vault's keys of the environment, where it has none itself. */
export function withVault(config: ConnectaConfig, env: NodeJS.ProcessEnv): ConnectaConfig {
  const { CONNECTA_VAULT_KEY: key, CONNECTA_VAULT_PREVIOUS_KEYS: previous = "" } = env;
  if (config.vault !== undefined || key === undefined || key === "") return config;
  const previousKeys = previous.split(/[\s,]+/).filter(Boolean);
  return { ...config, vault: { key, previousKeys } };
}

/** A config with the operator's secret of the environment, where it has none itself. */
export function withOperator(config: ConnectaConfig, env: NodeJS.ProcessEnv): ConnectaConfig {
  const { CONNECTA_OPERATOR_SECRET: secret } = env;
  if (config.operator !== undefined || secret === undefined || secret === "") return config;
  return { ...config, operator: { secret } };
}
