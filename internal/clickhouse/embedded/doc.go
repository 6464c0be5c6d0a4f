// Package embedded finds, fetches, starts and ends the private ClickHouse of this machine.
//
// The engine is one detached process per data folder, shared by every windlass process that uses the folder. Three files
// in the folder make that safe:
//
//   - run.lock is held by the engine process for as long as it lives. Whoever can lock it knows that no engine runs, so
//     an endpoint file that a killed engine left behind is never trusted, whatever process has its number now.
//   - start.lock is held by the one process that starts the engine; the others wait and then use what it started.
//   - endpoint.json (0600) says where the engine listens and with which password.
//
// The engine process is this executable, started again with a hidden command (see [ServeCommand]). It loads libchdb, or
// runs a clickhouse binary, and ends when nobody has been connected for a while or when its folder is gone.
package embedded
