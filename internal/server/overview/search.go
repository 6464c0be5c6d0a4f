package overview

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/filter"
)

// The fields of the search for runs, by their names in the address.
const (
	fieldText    = "text"
	fieldCascade = "cascade"
	fieldStatus  = "status"
	fieldTag     = "tag"
	fieldModel   = "model"
	fieldLeast   = "from"
	fieldMost    = "to"
	fieldSince   = "since"
	fieldUntil   = "until"
	fieldLimit   = "limit"
	fieldAt      = "before"
	fieldID      = "after"
	fieldSession = "session"
	fieldBy      = "by"
)

// How many runs a page has.
const (
	usualRuns = 50
	mostRuns  = 200
)

// statuses are those that a run can be searched by.
var statuses = []string{
	"running", echo.StatusWaiting.String(), echo.StatusCompleted.String(), echo.StatusFailed.String(), echo.StatusInterrupted.String(),
	echo.StatusOverBudget.String(), "killed", "unfinished", "damaged",
}

// searchOf reads the query of an address.
func searchOf(q url.Values, now time.Time) (*figures.Search, error) {
	s := &figures.Search{
		Cascade: q.Get(fieldCascade), Status: q.Get(fieldStatus), Model: q.Get(fieldModel), Text: q.Get(fieldText), Limit: usualRuns,
	}
	f, err := filterOf(q, now)
	if err != nil {
		return s, err
	}
	s.Tags, s.Since = f.Tags, f.Since
	if s.Until, err = timeOf(q, fieldUntil, now); err != nil {
		return s, err
	}
	if s.Least, err = moneyOf(q, fieldLeast); err != nil {
		return s, err
	}
	if s.Most, err = moneyOf(q, fieldMost); err != nil {
		return s, err
	}
	if text := q.Get(fieldLimit); text != "" {
		if s.Limit, err = strconv.Atoi(text); err != nil || s.Limit < 1 || s.Limit > mostRuns {
			s.Limit = usualRuns
			return s, fmt.Errorf("a page has 1 to %d runs, not %q", mostRuns, text)
		}
	}
	if text := q.Get(fieldAt); text != "" {
		if s.After.At, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return s, fmt.Errorf("%q is no time at which a page begins", text)
		}
		s.After.ID = q.Get(fieldID)
	}
	return s, nil
}

// filterOf reads what reports of costs are filtered by, as windlass cost does. The session is not looked up.
func filterOf(q url.Values, now time.Time) (clickhouse.Filter, error) {
	for name, values := range q {
		for _, v := range values {
			if len(v) > mostLink {
				return clickhouse.Filter{}, fmt.Errorf("%q has more than %d bytes", name, mostLink)
			}
		}
	}
	w := filter.Words{}
	if since := q.Get(fieldSince); since != "" {
		w.Since = &since
	}
	if id := q.Get(fieldCascade); id != "" {
		w.Cascade = &id
	}
	for _, t := range q[fieldTag] {
		if t = strings.TrimSpace(t); t != "" {
			w.Tags = append(w.Tags, t)
		}
	}
	f, err := filter.Parse(&w, now)
	return f, inWords(err)
}

// inWords returns an error of the flags of the command as one of the fields of a form.
func inWords(err error) error {
	if err == nil {
		return nil
	}
	text := strings.TrimPrefix(err.Error(), "--")
	var f *failure.Error
	if errors.As(err, &f) && f.Try != "" {
		text += ": write " + flags.Replace(f.Try)
	}
	return errors.New(text)
}

var flags = strings.NewReplacer("--since ", "", "--cascade ", "", "--tag ", "")

func timeOf(q url.Values, name string, now time.Time) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	f, err := filter.Parse(&filter.Words{Since: &text}, now)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %q is no age and no date: write 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z", name, text)
	}
	return f.Since, nil
}

func moneyOf(q url.Values, name string) (*float64, error) {
	text := strings.TrimPrefix(strings.TrimSpace(q.Get(name)), "$")
	if text == "" {
		return nil, nil //nolint:nilnil // there is no bound
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("%q is no amount of money: write 0.25", q.Get(name))
	}
	return &v, nil
}

// without returns the query of an address without some fields and those that are empty, and with others.
func without(q url.Values, names []string, with ...string) url.Values {
	out := url.Values{}
	for name, values := range q {
		for _, v := range values {
			if v != "" {
				out.Add(name, v)
			}
		}
	}
	for _, name := range names {
		out.Del(name)
	}
	for i := 0; i+1 < len(with); i += 2 {
		out.Set(with[i], with[i+1])
	}
	return out
}

// at returns an address with a query.
func at(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
