# The workload in a container: CPU by default, CUDA with `--build-arg ORT_CUDA=1 --build-arg RUNTIME=<a CUDA 12 and cuDNN 9 image>`.
ARG RUNTIME=debian:bookworm-slim

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY tools/setup.mjs ./tools/setup.mjs
RUN npm run build && npm prune --omit=dev
# npm ships ONNX Runtime's CPU library; CUDA's providers are fetched by the package's own script.
ARG ORT_CUDA=0
RUN if [ "$ORT_CUDA" = 1 ]; then \
      ONNXRUNTIME_NODE_INSTALL=1 node node_modules/onnxruntime-node/script/install \
      && ls node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime_providers_cuda.so; \
    fi
# Other systems' libraries are 240 MB that this image never loads.
RUN rm -rf node_modules/onnxruntime-node/bin/napi-v6/darwin node_modules/onnxruntime-node/bin/napi-v6/win32 \
    && if [ "$(uname -m)" = x86_64 ]; then rm -rf node_modules/onnxruntime-node/bin/napi-v6/linux/arm64; fi

FROM ${RUNTIME}
WORKDIR /app
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY assets ./assets
COPY models ./models
ENV NODE_ENV=production
RUN useradd --system --create-home easel && mkdir input output && chown easel input output
USER easel
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://localhost:3000/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/workload/main.js"]
