/**
 * The line that says how the sandbox is: the bot, what answers, a model's download, and press-to-reply latency.
 */

import { append, bytes, el } from "/static/dom.js";

/** Draw `status` (docs/sandbox.md) of the bot called `name` into `node`. */
export function drawStatus(node, status, name, word) {
  const online = status?.bot === "online";
  const latency = status?.latency_ms;
  node.replaceChildren();
  append(node, [
    el("span", { class: `dot ${online ? "online" : "offline"}`, "aria-hidden": "true" }),
    el("span", { class: "status-bot" }, el("strong", { class: "wide" }, `${name} `), word(online ? "online" : "offline")),
    status?.activity ? el("span", { class: "status-activity" }, status.activity) : null,
    status?.download ? progress(status.download) : null,
    el("span", { class: "status-space" }),
    status?.violations ? el("span", { class: "status-bad" }, word("violations", { count: status.violations })) : null,
    status?.refused_hosts ? el("span", { class: "status-bad" }, word("hosts", { count: status.refused_hosts })) : null,
    latency?.count
      ? el(
          "span",
          { class: "status-latency" },
          el("span", { class: "wide" }, `${word("latency")} `),
          `p50 ${ms(latency.p50)} · p95 ${ms(latency.p95)}`,
        )
      : null,
  ]);
}

function ms(value) {
  return value === null || value === undefined ? "–" : value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** A model's download: a bar with its share once the size is known, moving without one before. */
function progress({ name, done_bytes: done, total_bytes: total, state, detail }) {
  const known = Number(total) > 0;
  const share = known ? Math.min(100, (100 * done) / total) : null;
  const amounts = known ? `${bytes(done)} / ${bytes(total)} · ${share.toFixed(0)} %` : done ? bytes(done) : "";
  return el(
    "span",
    { class: `download ${state ?? ""}`, title: [name, state, detail].filter(Boolean).join(" – "), dataset: { testid: "download" } },
    el("span", { class: "download-name" }, name),
    el(
      "span",
      {
        class: `bar${known ? "" : " unknown"}`,
        role: "progressbar",
        "aria-label": name,
        "aria-valuemin": "0",
        "aria-valuemax": "100",
        "aria-valuenow": known ? share.toFixed(0) : null,
        style: { "--share": `${share ?? 30}%` },
      },
      el("span", {}),
    ),
    el("span", { class: "download-amounts" }, [amounts, detail].filter(Boolean).join(" · ")),
  );
}
