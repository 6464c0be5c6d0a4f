package figures

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"
)

// Change compares what runs of the newest version of a cascade cost with what those of the version before did: medians, of
// the whole run or of one phase.
type Change struct {
	CascadeID string    `json:"cascade_id"`
	Phase     string    `json:"phase_name"` // "": the whole run
	Began     time.Time `json:"began"`      // the first run of the newest version
	NewRuns   int       `json:"new_runs"`
	OldRuns   int       `json:"old_runs"` // 0: the version before had no such phase
	NewUSD    *float64  `json:"new_usd"`
	OldUSD    *float64  `json:"old_usd"`
	Pretend   bool      `json:"pretend"` // pretended costs of scripts are in it
}

// Share is by which part of the older cost the newer one is larger; it is below 0 for one that is smaller.
func (c *Change) Share() float64 {
	if c.NewUSD == nil || c.OldUSD == nil || *c.OldUSD == 0 {
		return 0
	}
	return *c.NewUSD / *c.OldUSD - 1
}

// ChangesSQL returns the statement that compares the two newest versions of cascades, all when cascade is "". Those runs are
// compared that completed, are no forks, and whose every cost is known. The text of a cascade is its version.
func ChangesSQL(cascade string, limit int) string {
	where := conditions{"s.status = 'completed'", "s.forked_from = ''", "s.unknown_cost_calls = 0"}
	if cascade != "" {
		where.add("s.cascade_id = %s", Quoted(cascade))
	}
	return `WITH
runs AS
(
    SELECT s.session_id AS session_id, s.cascade_id AS cascade_id, s.started_at AS started_at, v.version AS version
    FROM sessions AS s
    INNER JOIN
    (
        SELECT session_id, any(sipHash64(JSONExtractRaw(data_json, 'header', 'cascade'))) AS version
        FROM logs WHERE node_type = 'run_start' GROUP BY session_id
    ) AS v ON s.session_id = v.session_id` + where.sql() + `
),
versions AS
(
    SELECT cascade_id, version, min(started_at) AS began, max(started_at) AS newest,
           row_number() OVER (PARTITION BY cascade_id ORDER BY newest DESC, version) AS age
    FROM runs GROUP BY cascade_id, version
),
spent AS
(
    SELECT session_id, phase_name, sum(cost_usd) AS usd, sum(ifNull(pretend_usd, 0)) AS pretended,
           countIf(scripted AND pretend_usd IS NULL) AS unpriced
    FROM model_calls WHERE NOT copied AND phase_name != '' GROUP BY session_id, phase_name
    UNION ALL
    SELECT session_id, '' AS phase_name, sum(cost_usd) AS usd, sum(ifNull(pretend_usd, 0)) AS pretended,
           countIf(scripted AND pretend_usd IS NULL) AS unpriced
    FROM model_calls WHERE NOT copied GROUP BY session_id
)
SELECT r.cascade_id AS cascade_id, c.phase_name AS phase_name, minIf(v.began, v.age = 1) AS began,
       countIf(v.age = 1) AS new_runs, countIf(v.age = 2) AS old_runs,
       if(new_runs = 0, NULL, round(quantileExactInclusiveIf(0.5)(c.usd + c.pretended, v.age = 1), 12)) AS new_usd,
       if(old_runs = 0, NULL, round(quantileExactInclusiveIf(0.5)(c.usd + c.pretended, v.age = 2), 12)) AS old_usd,
       toBool(sum(c.pretended) > 0) AS pretend
FROM runs AS r
INNER JOIN versions AS v ON r.cascade_id = v.cascade_id AND r.version = v.version
INNER JOIN spent AS c ON r.session_id = c.session_id
WHERE v.age <= 2 AND c.unpriced = 0
GROUP BY cascade_id, phase_name
ORDER BY cascade_id, phase_name
LIMIT ` + strconv.Itoa(limit)
}

// MostChanges is how many rows of cascades and phases are compared.
const MostChanges = 5000

// Dearer returns the cascades whose runs cost more since their last version, those with the largest share first; of each, the
// whole run and then its phases.
func (d *Desk) Dearer(ctx context.Context, cascade string) ([]Change, error) {
	rows, err := ask[Change](ctx, d, ChangesSQL(cascade, MostChanges))
	if err != nil {
		return nil, err
	}
	whole := map[string]float64{}
	for i := range rows {
		if c := &rows[i]; c.Phase == "" && c.NewRuns > 0 && c.OldRuns > 0 && *c.NewUSD > *c.OldUSD {
			whole[c.CascadeID] = c.Share()
		}
	}
	rows = slices.DeleteFunc(rows, func(c Change) bool {
		_, dearer := whole[c.CascadeID]
		return !dearer
	})
	slices.SortStableFunc(rows, func(a, b Change) int { return cmp.Compare(whole[b.CascadeID], whole[a.CascadeID]) })
	return rows, nil
}

// Spent is what one run of a cascade cost, for a line of the newest ones.
type Spent struct {
	CascadeID string    `json:"cascade_id"`
	ID        string    `json:"session_id"`
	StartedAt time.Time `json:"started_at"`
	USD       *float64  `json:"usd"` // with the pretended cost of scripts; nil: not known
}

// SpentSQL returns the statement for what the newest runs of cascades cost.
func SpentSQL(cascades []string, each int) string {
	return `SELECT cascade_id, session_id, started_at, cost_usd + ifNull(pretend_usd, 0) AS usd
FROM sessions
WHERE cascade_id IN (` + quotedAll(cascades) + `) AND child_of = ''
ORDER BY started_at DESC, session_id
LIMIT ` + strconv.Itoa(each) + ` BY cascade_id`
}

// EachSpent is how many runs of a cascade a line of costs has.
const EachSpent = 20

// SpentOf returns what the newest runs of those cascades cost that a list has, by cascade, the oldest first. Runs of the list
// are in it as they are there.
func (d *Desk) SpentOf(ctx context.Context, runs []Run) (map[string][]Spent, error) {
	cascades := CascadesOf(runs)
	if len(cascades) == 0 {
		return map[string][]Spent{}, nil
	}
	rows, err := ask[Spent](ctx, d, SpentSQL(cascades, EachSpent))
	of := map[string]map[string]Spent{}
	put := func(s Spent) {
		if of[s.CascadeID] == nil {
			of[s.CascadeID] = map[string]Spent{}
		}
		of[s.CascadeID][s.ID] = s
	}
	for _, s := range rows {
		put(s)
	}
	for i := range runs {
		put(spentOf(&runs[i]))
	}
	out := map[string][]Spent{}
	for id, by := range of {
		var list []Spent
		for _, s := range by {
			list = append(list, s)
		}
		slices.SortFunc(list, func(a, b Spent) int { return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(b.ID, a.ID)) })
		out[id] = list[max(0, len(list)-EachSpent):]
	}
	return out, err
}

func spentOf(r *Run) Spent {
	s := Spent{CascadeID: r.CascadeID, ID: r.ID, StartedAt: r.StartedAt}
	if r.CostUSD != nil {
		usd := *r.CostUSD
		if r.PretendUSD != nil {
			usd += *r.PretendUSD
		}
		s.USD = &usd
	}
	return s
}

// CascadesOf returns the cascades of runs, each once, in the order of the list.
func CascadesOf(runs []Run) (out []string) {
	for i := range runs {
		if id := runs[i].CascadeID; id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
