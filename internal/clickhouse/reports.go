package clickhouse

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// CostBy is what costs are summed up by.
type CostBy string

// The ways to sum up costs. Each has a view of the same name.
const (
	ByCascade CostBy = "cascade"
	ByPhase   CostBy = "phase"
	ByModel   CostBy = "model"
	BySession CostBy = "session"
	ByDay     CostBy = "day"
	ByTag     CostBy = "tag"
)

// CostBys lists the ways to sum up costs.
func CostBys() []CostBy { return []CostBy{ByCascade, ByPhase, ByModel, BySession, ByDay, ByTag} }

// Tokens are what model calls used.
type Tokens struct {
	TokensIn     int64 `json:"tokens_in" ch:"tokens_in"`
	TokensCached int64 `json:"tokens_cached" ch:"tokens_cached"`
	TokensOut    int64 `json:"tokens_out" ch:"tokens_out"`
}

// Usage is what model calls and requests for embeddings used and cost.
type Usage struct {
	Calls            uint64 `json:"calls" ch:"calls"` // of models that answer
	EmbeddingCalls   uint64 `json:"embedding_calls" ch:"embedding_calls"`
	UnknownCostCalls uint64 `json:"unknown_cost_calls" ch:"unknown_cost_calls"` // left out of CostUSD
	FailedCalls      uint64 `json:"failed_calls" ch:"failed_calls"`
	ScriptedCalls    uint64 `json:"scripted_calls" ch:"scripted_calls"` // answered by a script, not by a model
	Tokens
	TokensReasoning int64    `json:"tokens_reasoning" ch:"tokens_reasoning"`
	CostUSD         *float64 `json:"cost_usd" ch:"cost_usd"` // nil when there are calls and no cost is known
	DurationMS      float64  `json:"duration_ms" ch:"duration_ms"`
	Pretend
}

// Pretend is what the calls of scripts would have cost, which is in no cost: nothing was paid.
type Pretend struct {
	PriceAs    string   `json:"price_as,omitempty" ch:"price_as"`       // the models whose prices these are; "": none
	PretendUSD *float64 `json:"pretend_usd,omitempty" ch:"pretend_usd"` // nil: no call has a pretend price
}

// CostRow is one line of a cost report. Of the names only those that the report is by are set.
type CostRow struct {
	SessionID string `json:"session_id,omitempty" ch:"session_id"`
	CascadeID string `json:"cascade_id,omitempty" ch:"cascade_id"`
	Phase     string `json:"phase_name,omitempty" ch:"phase_name"`
	Model     string `json:"model,omitempty" ch:"model"`
	Provider  string `json:"provider,omitempty" ch:"provider"`
	Day       string `json:"day,omitempty" ch:"day"`
	Tag       string `json:"tag,omitempty" ch:"tag"` // "": of the sessions without one
	Usage
}

// reportColumns returns the columns that a T is read from, by name: a newer view may have more. Sums are
// rounded far below the price of a token, as the last digits depend on the order.
func reportColumns[T any]() string {
	var columns []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		switch name := f.Tag.Get("ch"); name {
		case "":
		case "cost_usd", "pretend_usd":
			columns = append(columns, "round("+name+", 12) AS "+name)
		default:
			columns = append(columns, name)
		}
	}
	return strings.Join(columns, ", ")
}

// list returns all rows of a query; what says in an error what they were wanted for.
func list[T any](ctx context.Context, db *DB, what, query string, args ...any) ([]T, error) {
	var rows []T
	if err := db.conn.Select(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("%s: %w", what, sqlError(err))
	}
	return rows, nil
}

// Session is what the log says of one run.
type Session struct {
	SessionState
	SessionTimes
	SessionFigures
	Kin
	Tags []string `json:"tags,omitempty" ch:"tags"` // of its cascade when it began
}

// Kin says where a session stands among those that begin others. Reports say it in their own way.
type Kin struct {
	ChildOf string `json:"-" ch:"child_of"` // the session that has begun it, "" when none has
	Root    string `json:"-" ch:"root"`     // the first of all above it, itself when there is none
}

// SessionState says which run it is and how it stands.
type SessionState struct {
	ID        string `json:"session_id" ch:"session_id"`
	CascadeID string `json:"cascade_id" ch:"cascade_id"`
	Status    string `json:"status" ch:"status"`
	Reason    string `json:"reason,omitempty" ch:"reason"`
	Error     string `json:"error,omitempty" ch:"error"` // what ended a run that did not complete
}

// SessionTimes are the times of the first entry that is not copied, and of the last.
type SessionTimes struct {
	StartedAt time.Time `json:"started_at" ch:"started_at"`
	LastAt    time.Time `json:"last_at" ch:"last_at"`
}

// Ran is the time in which the session ran.
func (f *SessionFigures) Ran() time.Duration {
	return time.Duration(f.RanMS * float64(time.Millisecond))
}

// SessionFigures are what a run came to.
type SessionFigures struct {
	Phases           uint64 `json:"phases" ch:"phases"` // each visit counts
	Calls            uint64 `json:"calls" ch:"calls"`   // of models that answer
	EmbeddingCalls   uint64 `json:"embedding_calls" ch:"embedding_calls"`
	ToolCalls        uint64 `json:"tool_calls" ch:"tool_calls"`
	UnknownCostCalls uint64 `json:"unknown_cost_calls" ch:"unknown_cost_calls"`
	ScriptedCalls    uint64 `json:"scripted_calls" ch:"scripted_calls"`
	Tokens
	CostUSD *float64 `json:"cost_usd" ch:"cost_usd"` // nil when there are calls and no cost is known
	RanMS   float64  `json:"ran_ms" ch:"ran_ms"`     // in which it ran: without the time from a stop to the next resume
	Pretend
	Copied
	Below
}

// Below is what a session and all below it came to, of which its own figures have nothing. All is zero
// for a session without children.
type Below struct {
	ChildrenBegun   uint64   `json:"children_begun,omitempty" ch:"children"`
	ChildrenEnded   uint64   `json:"children_ended,omitempty" ch:"children_ended"` // of these: of the others nothing is known
	ChildrenUnknown uint64   `json:"children_unknown_cost_calls,omitempty" ch:"children_unknown_cost_calls"`
	WithChildren    uint64   `json:"with_children_calls,omitempty" ch:"with_children_calls"` // of models that answer
	WithChildrenUSD *float64 `json:"with_children_usd,omitempty" ch:"with_children_usd"`     // nil: none is known
}

// Copied is what a fork has of the session that it comes from, and of no other figure but phases:
// it was paid for there.
type Copied struct {
	ForkedFrom    string   `json:"forked_from,omitempty" ch:"forked_from"`                             // the id of that session; "": it is no fork
	CopiedCalls   uint64   `json:"copied_calls,omitempty" ch:"copied_calls"`                           // requests for embeddings among them
	CopiedUnknown uint64   `json:"copied_unknown_cost_calls,omitempty" ch:"copied_unknown_cost_calls"` // left out of CopiedCostUSD
	CopiedCostUSD *float64 `json:"copied_cost_usd,omitempty" ch:"copied_cost_usd"`                     // nil: none is known, or it is no fork
}

// Sessions lists the newest sessions that fit a filter, the newest first; all of them when limit is 0.
func (db *DB) Sessions(ctx context.Context, limit int, f Filter) ([]Session, error) {
	where := f.sessions()
	tail := where.sql() + " ORDER BY started_at DESC, session_id"
	if limit > 0 {
		tail += fmt.Sprintf(" LIMIT %d", limit)
	}
	return sessionsWhere(ctx, db, tail, where.args...)
}

func sessionsWhere(ctx context.Context, db *DB, tail string, args ...any) ([]Session, error) {
	query := "SELECT " + reportColumns[Session]() + " FROM " + db.layout.table("sessions")
	rows, err := list[Session](ctx, db, "list the sessions", query+tail, args...)
	for i := range rows {
		if rows[i].ChildrenBegun == 0 {
			rows[i].Below = Below{}
		}
	}
	return rows, err
}

// ChildrenOf returns the ids of the sessions that a session has begun, in the order in which they began, as
// far as the database has its entries or theirs. A fork has copied starts of what the session that it comes
// from has begun: the copies of those that went on for it say themselves whose children they are.
func ChildrenOf(ctx context.Context, db *DB, id string) ([]string, error) {
	logs := db.layout.table("unified_logs")
	rows, err := list[SessionState](ctx, db, "look for the children of a session",
		"SELECT c.child AS session_id FROM (SELECT JSONExtractString(data_json, 'session') AS child, min(at) AS first FROM "+
			logs+" WHERE session_id = ? AND node_type = 'child_start' GROUP BY child UNION ALL SELECT session_id AS child, min(at) AS first FROM "+
			logs+" WHERE node_type = 'run_start' AND child_of = ? GROUP BY child) AS c GROUP BY c.child ORDER BY min(c.first), c.child", id, id)
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids, err
}

// SessionError says that there is no session of an id.
type SessionError struct{ ID string }

func (e *SessionError) Error() string { return fmt.Sprintf("no session %q in ClickHouse", e.ID) }

// Session returns the session of a whole id. The error is a [*SessionError] when there is none.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	found, err := sessionsWhere(ctx, db, " WHERE session_id = ?", id)
	switch {
	case err != nil:
		return Session{}, err
	case len(found) == 0:
		return Session{}, &SessionError{ID: id}
	}
	return found[0], nil
}

// IDsLike returns the ids that are a name, begin with it or, when it has at least so many characters,
// end with it; only the one that is the name, when there is such a one.
func IDsLike(ctx context.Context, db *DB, name string, minSuffix int) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	const what = "look for sessions by their ids"
	from := "SELECT DISTINCT session_id FROM " + db.layout.table("unified_logs")
	rows, err := list[SessionState](ctx, db, what, from+" WHERE session_id = ?", name) // by the primary key
	if err == nil && len(rows) == 0 {
		where, args := " WHERE startsWith(session_id, ?)", []any{name}
		if len(name) >= minSuffix {
			where, args = where+" OR endsWith(session_id, ?)", append(args, name)
		}
		rows, err = list[SessionState](ctx, db, what, from+where, args...)
	}
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids, err
}

// NewestOf returns the id of the session of a cascade that began last; "" for none.
func NewestOf(ctx context.Context, db *DB, cascade string) (string, error) {
	logs := db.layout.table("unified_logs")
	rows, err := list[SessionState](ctx, db, "look for the newest session of a cascade",
		"SELECT l.session_id AS session_id FROM "+logs+" AS l LEFT JOIN (SELECT session_id AS fork, max(forked_at) AS upto FROM "+logs+
			" WHERE cascade_id = ? AND forked_at > 0 GROUP BY session_id) AS f ON l.session_id = f.fork WHERE l.cascade_id = ? GROUP BY l.session_id"+
			" ORDER BY if(max(l.seq) > max(ifNull(f.upto, 0)), minIf(l.at, l.seq > ifNull(f.upto, 0)), min(l.at)) DESC, session_id LIMIT 1", cascade, cascade)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].ID, nil
}

// Size is how much a database holds.
type Size struct {
	Rows  uint64 `json:"rows" ch:"rows"`
	Bytes uint64 `json:"bytes" ch:"bytes"` // on disk, compressed
}

// Size asks how much the database holds on the node that answers.
func (db *DB) Size(ctx context.Context) (Size, error) {
	var s Size
	err := db.conn.QueryRow(ctx, "SELECT sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = ?",
		db.layout.database).Scan(&s.Rows, &s.Bytes)
	if err != nil {
		return Size{}, fmt.Errorf("ask for the size of the database: %w", sqlError(err))
	}
	return s, nil
}

// Version returns ClickHouse's version.
func (db *DB) Version() (string, error) {
	v, err := db.conn.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("query the version of ClickHouse: %w", err)
	}
	return v.Version.String(), nil
}
