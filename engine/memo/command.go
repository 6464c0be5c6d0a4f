package memo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// The limits of retrieve_memos.
const (
	defaultLimit = 10
	maxLimit     = 50
)

// Command is one call of a tool. Each tool has arguments of its own.
type Command struct {
	Tool  string
	ID    string
	Text  *string  // nil: not given
	Tags  []string // nil: not given
	Scope string
	Query string
	Limit int
}

// problemError is an error for the model.
type problemError string

func (e problemError) Error() string { return "Error: " + string(e) }

// Read returns the command of a call. The text of an error is for the model. An argument that is null is not given.
func Read(tool string, args json.RawMessage) (*Command, error) {
	if !utf8.Valid(args) { // the parser would replace what is not
		return nil, problemError("The arguments are not valid UTF-8")
	}
	var in struct {
		ID    string   `json:"id"`
		Text  *string  `json:"text"`
		Tags  []string `json:"tags"`
		Scope string   `json:"scope"`
		Query string   `json:"query"`
		Limit float64  `json:"limit"` // JSON Schema takes 5.0 for an integer
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	switch err := dec.Decode(&in); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, problemError(fmt.Sprintf("The argument %s cannot be a JSON %s", wrong.Field, wrong.Value))
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return nil, problemError("There is an argument that " + tool + " does not have")
	case err != nil:
		return nil, problemError("The arguments are no JSON object")
	}
	c := &Command{Tool: tool, ID: strings.TrimSpace(in.ID), Text: in.Text, Tags: in.Tags, Scope: in.Scope, Query: in.Query, Limit: int(min(max(in.Limit, 0), maxLimit))}
	return c, c.check()
}

// check puts the arguments into the form that memos have, and says what is wrong with them.
func (c *Command) check() error {
	var problem string
	switch {
	case c.Tool == ToolSave && c.Text == nil:
		problem = "save_memo needs the argument text"
	case (c.Tool == ToolEdit || c.Tool == ToolDelete) && c.ID == "":
		problem = c.Tool + " needs the argument id"
	case c.Tool == ToolEdit && c.Text == nil && c.Tags == nil:
		problem = "edit_memo needs the argument text or tags"
	case c.Scope != "" && !slices.Contains(Scopes(), c.Scope):
		problem = fmt.Sprintf("%q is no scope: a memo is of the project or global", excerpt.Clip(c.Scope, 40))
	}
	if problem == "" && c.Text != nil {
		*c.Text, problem = CheckText(*c.Text)
	}
	if problem == "" && c.Tags != nil {
		if c.Tags, problem = CheckTags(c.Tags); c.Tags == nil {
			c.Tags = []string{}
		}
	}
	if problem != "" {
		return problemError(problem)
	}
	if c.Tool == ToolSave && c.Scope == "" {
		c.Scope = Project
	}
	if c.Tool == ToolRetrieve && c.Limit == 0 {
		c.Limit = defaultLimit
	}
	return nil
}

// Writes reports whether the command changes memos.
func (c *Command) Writes() bool { return c.Tool != ToolRetrieve }

// Change is what a command writes: a new memo, whose id is not known yet, another version of one, or its end.
type Change struct {
	ID    string // "": a new one
	Scope string
	Text  string
	Tags  []string
	Gone  bool
}

// Result is what a command comes to.
type Result struct {
	Text     string // for the model; with a change, [Command.Done] has it
	Failed   bool
	Conflict bool    // somebody else has changed the memo since the run saw it
	Read     []*Memo // whose text the model is told
	Change   *Change // nil: nothing is written
}

func failed(format string, args ...any) Result {
	return Result{Failed: true, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// Run runs the command over the memos that a run sees, and those that there are now. It is a pure function of them.
func (c *Command) Run(seen, now Set) Result {
	switch c.Tool {
	case ToolSave:
		return c.save(now)
	case ToolRetrieve:
		return c.retrieve(seen)
	case ToolEdit, ToolDelete:
		return c.change(seen, now)
	}
	return failed("There is no tool %s", c.Tool)
}

func (c *Command) save(now Set) Result {
	if had, is := now.Same(*c.Text, c.Scope); is {
		return Result{Text: listed("A memo says that already. Nothing was saved.", []*Memo{had}), Read: []*Memo{had}}
	}
	if n := now.In(c.Scope); n >= MaxMemos {
		return failed("There are %d memos of the scope %s, which is the limit. Delete some first", n, c.Scope)
	}
	return Result{Change: &Change{Scope: c.Scope, Text: *c.Text, Tags: c.Tags}}
}

// Done returns what a model is told of a command that has written, by the id of the memo.
func (c *Command) Done(id string) string {
	switch c.Tool {
	case ToolSave:
		return "Saved as memo " + id + "."
	case ToolDelete:
		return "Deleted the memo " + id + "."
	}
	return "Changed the memo " + id + "."
}

func (c *Command) retrieve(seen Set) Result {
	found := seen.search(c.Query, c.Tags)
	heading := "There is no such memo."
	switch {
	case len(seen) == 0:
		heading = "There are no memos yet."
	case len(found) > c.Limit:
		heading = fmt.Sprintf("%s of %d that match. ", counted(c.Limit), len(found)) + are
		found = found[:c.Limit]
	case len(found) > 0:
		heading = counted(len(found)) + ". " + are
	}
	if strings.TrimSpace(c.Query) != "" && len(found) > 0 && !Says(c.Query) {
		heading = "No word of the query says anything, so these are the newest: " + heading
	}
	return Result{Text: listed(heading, found), Read: found}
}

// change is the command that gives a memo another version, or deletes it.
func (c *Command) change(seen, now Set) Result {
	had, is := seen.Find(c.ID)
	if !is {
		return failed("There is no memo %s. retrieve_memos shows the memos with their ids", excerpt.Clip(c.ID, 40))
	}
	switch there, is := now.Find(c.ID); {
	case !is:
		return Result{Failed: true, Conflict: true, Text: fmt.Sprintf("Error: Somebody else has deleted the memo %s since this run began. Nothing was written.", c.ID)}
	case there.Version != had.Version:
		heading := fmt.Sprintf("Error: Somebody else has changed the memo %s since this run began. Nothing was written. This is there now; decide again.", c.ID)
		return Result{Failed: true, Conflict: true, Text: listed(heading, []*Memo{there}), Read: []*Memo{there}}
	}
	if c.Tool == ToolDelete {
		return Result{Change: &Change{ID: c.ID, Scope: had.Scope, Gone: true}}
	}
	next := Change{ID: c.ID, Scope: had.Scope, Text: had.Text, Tags: had.Tags}
	if c.Text != nil {
		next.Text = *c.Text
	}
	if c.Tags != nil {
		next.Tags = c.Tags
	}
	if next.Text == had.Text && slices.Equal(next.Tags, had.Tags) {
		return Result{Text: "The memo " + c.ID + " says that already. Nothing was written."}
	}
	if other, is := now.Same(next.Text, had.Scope); is && other.ID != c.ID {
		return Result{Failed: true, Text: listed("Error: Another memo says that already. Delete one of the two.", []*Memo{other}), Read: []*Memo{other}}
	}
	return Result{Change: &next}
}

// Told returns what a call is recorded as, but for what it has written.
func (c *Command) Told(r *Result) *echo.MemoCall {
	out := &echo.MemoCall{Tool: c.Tool, Text: r.Text, Failed: r.Failed, Conflict: r.Conflict}
	for _, m := range r.Read {
		out.Read = append(out.Read, m.Recorded())
	}
	return out
}

// Recorded returns which version of a memo it is, as a record says it.
func (m *Memo) Recorded() echo.MemoVersion {
	return echo.MemoVersion{Scope: m.Scope, Memo: m.ID, Version: m.Version, Hash: m.Hash(), Tags: m.Tags}
}
