// Package embedded finds, fetches, starts and ends the private ClickHouse of this machine.
//
// The engine is one detached process per data folder, shared by every windlass process that uses
// the folder. Four files in the folder make that safe:
//
//   - run.lock is held by the engine process for as long as it lives. Whoever can lock it knows
//     that no engine runs, so an endpoint file that a killed engine left behind is never trusted,
//     whatever process has its number now.
//   - start.lock is held by the one process that starts the engine; the others wait and then use
//     what it started.
//   - endpoint.json (0600) says where the engine listens and with which password.
//   - engine.sock is what clients connect to; docs/security.md says why not to ClickHouse's port.
//
// The engine process is this executable, started again with a hidden command (see [ServeCommand]).
// It starts ClickHouse in a process of its own that the kernel confines: this executable once more,
// which loads libchdb, or a clickhouse binary. It leads clients from its socket to ClickHouse's
// port, and ends when nobody has been connected for a while, when ClickHouse does not listen any
// more, or when its folder is gone.
package embedded
