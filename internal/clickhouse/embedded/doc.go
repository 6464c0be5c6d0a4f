// Package embedded finds, fetches, starts and ends the private ClickHouse of this machine: one
// detached process for each data folder, shared by all windlass processes that use the folder. Four
// files in the folder make that safe:
//
//   - run.lock is held by the engine process while it lives. Whoever can lock it knows that no
//     engine runs, so what a killed one left in endpoint.json is never trusted.
//   - start.lock is held by the one process that starts the engine.
//   - endpoint.json (0600) says where the engine listens and with which password.
//   - engine.sock is what clients connect to; docs/security.md says why not to ClickHouse's port.
//
// The engine process is this executable, started with [ServeCommand]. It starts ClickHouse (this
// executable once more, which loads libchdb, or a clickhouse binary) in a confined process, leads
// clients from its socket to ClickHouse's port, and ends when nobody has been connected for a
// while, when ClickHouse does not listen any more, or when its folder is gone.
package embedded
