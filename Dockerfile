# The gateway on Node, without its host page: see documentation/running.md, "In a container".
FROM node:22-alpine AS build
WORKDIR /app
COPY . .
# No package's install script is needed, and none is run.
RUN npm ci --ignore-scripts && npm run build

FROM node:22-alpine AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev && npm cache clean --force && mkdir -p /volumes/data

FROM node:22-alpine
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist/server dist/server
COPY package.json ./
COPY scripts/connecta.mjs scripts/connecta.mjs
# A deployment is mounted here: inside the package, so that its config can import "connecta".
WORKDIR /app/deployment
# A new volume takes its owner from the folder that it covers.
COPY --from=packages --chown=node:node /volumes ./
USER node
EXPOSE 8787
# Whatever is answered, a refusal included, comes from a server that works.
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 8787}/health`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/scripts/connecta.mjs", "serve", "--host", "0.0.0.0"]
