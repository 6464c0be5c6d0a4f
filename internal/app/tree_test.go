package app

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

// treeFiles are a cascade with children in two generations, begun in several ways.
var treeFiles = map[string]string{
	"top.json": `{"cascade_id": "top", "phases": [
		{"name": "plan", "instructions": "plan with {{ subs.facts }}", "sub_cascades": [{"ref": "mid.json", "name": "facts", "input_map": {"topic": "input.topic"}, "context_in": true, "context_out": true}],
		 "async_cascades": [{"ref": "leaf.json", "name": "note", "input_map": {"topic": "{{ input.topic }} note"}}]},
		{"name": "each", "instructions": "item {{ item }} with {{ subs.leaf }}", "for_each": {"items": ["a", "b"]}, "sub_cascades": [{"ref": "leaf.json", "input_map": {"topic": "{{ item }}"}}]},
		{"name": "last", "instructions": "last of {{ state.color }}"}]}`,
	"mid.json": `{"cascade_id": "mid", "inputs_schema": {"topic": "about"}, "phases": [
		{"name": "colour", "tool": "set_state", "inputs": {"key": "color", "value": "blue"}},
		{"name": "sum", "instructions": "mid {{ input.topic }} {{ subs.leaf }}", "sub_cascades": [{"ref": "leaf.json", "input_map": {"topic": "{{ input.topic }} deep"}}]}]}`,
	"leaf.json": `{"cascade_id": "leaf", "inputs_schema": {"topic": "about"}, "phases": [
		{"name": "one", "instructions": "leaf {{ input.topic }}"}, {"name": "two", "instructions": "{{ outputs.one }} twice"}]}`,
}

func treeJob(t *testing.T, files map[string]string, name string) Job {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	c, found, err := LoadFile(t.Context(), filepath.Join(dir, name), Known())
	require.NoError(t, err, found)
	return Job{Cascade: c, File: filepath.Join(dir, name), Input: map[string]any{"topic": "sea"}}
}

func startTree(t *testing.T, a *App, m effect.Model, job Job) *Run {
	t.Helper()
	r, err := a.Start(t.Context(), job, RunOptions{SessionID: "top", NoClickHouse: true, Models: Models{Default: "m1"}, Extensions: Extensions{Model: m}}, Watch{})
	require.NoError(t, err)
	return r
}

// verifyTree demands that a session and all below it hold, and returns how many children there are.
func verifyTree(t *testing.T, a *App, id string) (children int) {
	t.Helper()
	v, err := VerifyTree(t.Context(), a, a.recording(t, id), Extensions{})
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
	var count func([]*ChildVerification)
	count = func(list []*ChildVerification) {
		for _, c := range list {
			require.True(t, !c.Missing || v.Status != "completed", "%s at %s", c.Name, c.Key) // a run that was stopped may have begun none yet
			children++
			if c.Verification != nil {
				count(c.Children)
			}
		}
	}
	count(v.Children)
	return children
}

// A tree of cascades runs, and each session of it is verified with its parent.
func TestTree(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	job := treeJob(t, treeFiles, "top.json")
	r := startTree(t, a, m, job)
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, 5, verifyTree(t, a, "top"))
	require.Len(t, m.asked, res.Calls+res.Children.Calls)
	require.Equal(t, 4, res.Calls)
	require.Equal(t, 9, res.Children.Calls)
	require.Equal(t, "said last of blue", res.Output)
}

// The record of a parent has the state of a child where the parent takes it, and nowhere else: it is in
// the child's own record.
func TestStateThatAParentTakes(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r := startTree(t, a, &speaker{}, treeJob(t, treeFiles, "top.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	had := map[string]bool{}
	for _, b := range begunBy(a.recording(t, "top").Entries) {
		had[b.key.String()] = b.end.State != nil
	}
	require.Equal(t, map[string]bool{"plan/child/facts": true, "plan/async/note": false, "each/item1/child/leaf": false, "each/item2/child/leaf": false}, had)
}

// What parent and child say of the state that they gave each other is compared, too.
func TestVerifyStateOfChildren(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := maps.Clone(treeFiles)
	files["top.json"] = strings.Replace(files["top.json"], `"phases": [`, `"phases": [{"name": "set", "tool": "set_state", "inputs": {"key": "tone", "value": "calm"}},`, 1)
	r := startTree(t, a, &speaker{}, treeJob(t, files, "top.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, 5, verifyTree(t, a, "top"))
	facts := begunBy(a.recording(t, "top").Entries)[0]
	require.Equal(t, "calm", facts.start.State["tone"])
	parent, child := a.recording(t, "top"), a.recording(t, facts.start.Session)
	whole, err := a.Verify(t.Context(), child, Extensions{})
	require.NoError(t, err)
	require.Empty(t, disagreement(parent, facts, child)+disagreementOfState(parent, facts, child, whole.state))

	says := "session top says that the value "
	was := *facts
	was.start.State = maps.Clone(facts.start.State)
	was.start.State["tone"] = "harsh"
	require.Equal(t, says+`tone in the state that it begins with is "harsh", and session `+was.start.Session+` that it is "calm"`, disagreement(parent, &was, child))
	was.start.State = nil
	require.Equal(t, says+`output_set in the state that it begins with is not there, and session `+was.start.Session+` that it is "Stored."`, disagreement(parent, &was, child))
	was.start.State = maps.Clone(facts.start.State)
	was.start.State["more"] = 1
	require.Equal(t, says+`more in the state that it begins with is 1, and session `+was.start.Session+" that it is not there", disagreement(parent, &was, child))

	end := *facts.end
	end.State = maps.Clone(end.State)
	end.State["color"] = "red"
	was = *facts
	was.end = &end
	require.Equal(t, says+`color in the state that it ends with is "red", and session `+was.start.Session+` comes to "blue"`, disagreementOfState(parent, &was, child, whole.state))
	end.Status = echo.StatusInterrupted
	require.Empty(t, disagreementOfState(parent, &was, child, whole.state), "it has ended again since")
	end.State = nil
	require.Empty(t, disagreementOfState(parent, &was, child, whole.state), "it was not taken")
}

// A process can die when a child has begun for its parent, and has not written a whole line itself.
func TestVerifyChildWithoutHeader(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r := startTree(t, a, &speaker{}, treeJob(t, treeFiles, "top.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	rec := a.recording(t, "top")
	at := slices.IndexFunc(rec.Entries, func(e *echo.Entry) bool { return e.Key.String() == "plan/async/note" })
	start, err := echo.Read[echo.ChildStart](rec.Entries[at])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(a.SessionDir(start.Session), journal.File), []byte(`{"windlass_journal"`), 0o600))

	v, err := VerifyTree(t.Context(), a, a.recording(t, "top"), Extensions{})
	require.NoError(t, err)
	require.Contains(t, v.Difference, "its process died before the session had begun", "its parent says how it ended")
	rec.Entries = rec.Entries[:at+1]
	v, err = VerifyTree(t.Context(), a, rec, Extensions{})
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
	require.True(t, v.Children[len(v.Children)-1].Missing)
}

// However a tree is stopped, it goes on where it was: nothing is asked twice but what was not answered,
// and the output is that of a run that nothing has stopped.
func TestTreeIsStopped(t *testing.T) {
	t.Parallel()
	undisturbed := &speaker{}
	{
		a := newApp(t)
		r := startTree(t, a, undisturbed, treeJob(t, treeFiles, "top.json"))
		_, err := r.Do(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.Close().Err)
	}
	away := &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m1", Message: "away", Unpaid: true}
	for how, stop := range map[string]func(cancel func()) error{
		"interrupted": func(cancel func()) error { cancel(); return context.Canceled },
		"failed":      func(func()) error { return away },
	} {
		for _, text := range undisturbed.asked {
			t.Run(how+" at "+text, func(t *testing.T) {
				t.Parallel()
				a, m := newApp(t), &speaker{}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m.says(text, func(context.Context) error { return stop(cancel) })
				r := startTree(t, a, m, treeJob(t, treeFiles, "top.json"))
				_, err := r.Do(ctx)
				require.NoError(t, r.Close().Err)
				beside := err == nil // what runs beside the run may fail without it
				require.Equal(t, beside && how == "failed", err == nil, "%v", err)
				verifyTree(t, a, "top")
				if beside {
					return
				}
				a = again(t, a)
				r = resumeParent(t, a, m, "top")
				res, err := r.Do(t.Context())
				require.NoError(t, err)
				require.NoError(t, r.Close().Err)
				require.Equal(t, "said last of blue", res.Output)
				want, got := slices.Clone(undisturbed.asked), slices.Clone(m.asked)
				want = append(want, text) // it was asked, and not answered
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, want, got)
				require.Equal(t, 5, verifyTree(t, a, "top"))
				require.Equal(t, 9, res.Children.Calls)
			})
		}
	}
}

// A fork of a tree has children of its own where those of the original had not ended for it.
func TestForkOfATree(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, treeFiles, "top.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	entries := a.recording(t, "top").Entries
	for seq := range entries[:len(entries)-1] {
		m.asked = nil
		fork, err := a.Fork(t.Context(), "top", uint64(seq+1), ForkOptions{ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
		require.NoError(t, err)
		res, err := fork.Do(t.Context())
		require.NoError(t, err, "entry %d, %s", seq+1, entries[seq].Key)
		require.NoError(t, fork.Close().Err)
		require.Equal(t, "said last of blue", res.Output)
		verifyTree(t, a, fork.ID())
		for _, b := range begunBy(a.recording(t, fork.ID()).Entries) {
			require.NotNil(t, b.end)
		}
	}
}

// What a fork says that its children took is what they took for it: what they have copied of those of the
// original was paid for there. So it is counted, verified, and taken from its budget when it is resumed.
func TestSumsOfAFork(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top.json": `{"cascade_id": "top", "phases": [{"name": "plan", "instructions": "plan", "sub_cascades": [{"ref": "mid.json"}]}, {"name": "end", "instructions": "end"}]}`,
		"mid.json": `{"cascade_id": "mid", "phases": [{"name": "one", "instructions": "one", "sub_cascades": [{"ref": "leaf.json", "name": "a"}]},
			{"name": "two", "instructions": "two"}, {"name": "three", "instructions": "three", "sub_cascades": [{"ref": "leaf.json", "name": "b"}]}]}`,
		"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "leaf", "instructions": "leaf"}]}`,
	}
	a, m := newApp(t), &speaker{}
	ctx, cancel := context.WithCancel(t.Context())
	m.says("two", func(context.Context) error { cancel(); return context.Canceled })
	r := startTree(t, a, m, treeJob(t, files, "top.json"))
	_, err := r.Do(ctx)
	require.Error(t, err)
	require.NoError(t, r.Close().Err)
	entries := a.recording(t, "top").Entries
	at := slices.IndexFunc(entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodeChildStart })

	m.asked = nil
	ctx, cancel = context.WithCancel(t.Context())
	m.says("end", func(context.Context) error { cancel(); return context.Canceled })
	fork, err := a.Fork(t.Context(), "top", uint64(at+1), ForkOptions{ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
	require.NoError(t, err)
	res, err := fork.Do(ctx)
	require.Error(t, err)
	require.NoError(t, fork.Close().Err)
	require.Equal(t, []string{"two", "leaf", "three", "plan", "end"}, m.asked)
	require.Equal(t, 3, res.Children.Calls)
	sums := fork.Sums()
	require.Equal(t, []int{1, 1, 3, 1}, []int{sums.Children.Begun, sums.Children.Ended, sums.Children.Totals.Calls, sums.Totals.Calls})
	require.InDelta(t, 0.03, sums.Children.Totals.CostUSD, 1e-9)
	require.Equal(t, 3, verifyTree(t, a, fork.ID()))

	r = resumeParent(t, a, m, fork.ID())
	res, err = r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, []int{3, 2}, []int{res.Children.Calls, res.Calls})

	child := begunBy(a.recording(t, fork.ID()).Entries)[0]
	out, err := relatives{a}.outcomeRecorded(t.Context(), a.recording(t, child.end.Session), Extensions{})
	require.NoError(t, err)
	require.Equal(t, child.end.Totals, out.Totals, "its record says the same")
}

// A run that failed of a child that cannot go on cannot either.
func TestChildFailsForGood(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top.json":  `{"cascade_id": "top", "phases": [{"name": "plan", "instructions": "plan", "sub_cascades": [{"ref": "leaf.json"}]}]}`,
		"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "one", "instructions": "leaf", "rules": {"loop_until": "min_words:99", "max_attempts": 1}}]}`,
	}
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, files, "top.json"))
	_, err := r.Do(t.Context())
	require.ErrorContains(t, err, "no answer passed loop_until min_words:99")
	require.NoError(t, r.Close().Err)
	require.Equal(t, 1, verifyTree(t, a, "top"))
	require.Equal(t, echo.StatusFailed, record.EndOf(a.recording(t, "top").Entries).Status)
	_, err = a.Resume(t.Context(), "top", ResumeOptions{Extensions: Extensions{Model: m}}, Watch{})
	require.True(t, failure.Is(err, failure.NotResumable), "%v", err)
}

// A run that failed of a child whose model could not be asked has failed of that, however the child was
// begun and however far below it is: also when only the record knows.
func TestChildFailsOfAModel(t *testing.T) {
	t.Parallel()
	leaf := `{"cascade_id": "leaf", "inputs_schema": {"content": "a text"}, "phases": [{"name": "one", "instructions": "leaf"}]}`
	for _, c := range []struct{ name, phase string }{
		{"sub", `{"name": "p", "instructions": "top", "sub_cascades": [{"ref": "leaf.json"}]}`},
		{"below", `{"name": "p", "instructions": "top", "sub_cascades": [{"ref": "mid.json"}]}`},
		{"tool", `{"name": "p", "tool": "leaf.json"}`},
		{"validator", `{"name": "p", "instructions": "top", "rules": {"loop_until": "leaf", "max_attempts": 1}}`},
		{"ward", `{"name": "p", "instructions": "top", "wards": {"post": [{"validator": "leaf"}]}}`},
		{"validator of a child", `{"name": "p", "instructions": "top", "sub_cascades": [{"ref": "judged.json"}]}`},
		{"element", `{"name": "p", "instructions": "top {{ item }}", "for_each": {"items": [1, 2], "max_parallel": 1}, "sub_cascades": [{"ref": "leaf.json"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t), &speaker{}
			job := treeJob(t, map[string]string{
				"leaf.json": leaf, "top.json": `{"cascade_id": "top", "phases": [` + c.phase + `]}`,
				"judged.json": `{"cascade_id": "judged", "phases": [{"name": "p", "instructions": "mid", "rules": {"loop_until": "leaf", "max_attempts": 1}}]}`,
				"mid.json":    `{"cascade_id": "mid", "phases": [{"name": "p", "instructions": "mid", "sub_cascades": [{"ref": "leaf.json"}]}]}`,
			}, "top.json")
			m.says("leaf", func(context.Context) error {
				return &effect.ModelError{Kind: echo.ModelErrConfig, Model: "m1", Message: "no key", Hint: "set the key", Unpaid: true}
			})
			r := startTree(t, a, m, job)
			_, err := r.Do(t.Context())
			require.NoError(t, r.Close().Err)
			require.True(t, failure.Is(err, failure.ModelUnavailable), "%v", err)
			require.Equal(t, "set the key", err.(*failure.Error).Try) //nolint:errorlint // the outermost
			require.ErrorContains(t, err, "no key")

			kind, try := r.children.failedOf("no such session")
			require.Equal(t, []any{failure.Failed, ""}, []any{kind, try})
			for _, e := range a.recording(t, "top").Entries {
				if d, err := echo.Read[echo.ChildEnd](e); err == nil && e.NodeType == echo.NodeChildEnd && e.Error != nil {
					kind, _ = newChildren(r.children.op).failedOf(d.Session)
					require.Equal(t, failure.ModelUnavailable, kind, "from the record")
				}
			}

			r = resumeParent(t, a, m, "top")
			_, err = r.Do(t.Context())
			require.NoError(t, r.Close().Err)
			if err != nil {
				require.NotContains(t, err.Error(), "no key", "the model was asked again")
			}
		})
	}
}

// Where only the run knows what state there is, it says how a text is written in place of a path.
func TestTextInPlaceOfAPath(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r := startTree(t, a, &speaker{}, treeJob(t, map[string]string{
		"top.json": `{"cascade_id": "top", "phases": [{"name": "p", "tool": "set_state", "inputs": {"key": "{{ input.topic }}", "value": "1"}},
			{"name": "q", "instructions": "q", "sub_cascades": [{"ref": "leaf.json", "input_map": {"topic": "German"}}]}]}`,
		"leaf.json": `{"cascade_id": "leaf", "inputs_schema": {"topic": "about"}, "phases": [{"name": "one", "instructions": "leaf {{ input.topic }}"}]}`,
	}, "top.json"))
	_, err := r.Do(t.Context())
	require.EqualError(t, err, `top/q: sub_cascades.leaf.input_map.topic is "German", which is no template: there is no "German" in state or input, and no variable of that name; for a text write {{ "German" }}`)
	require.NoError(t, r.Close().Err)
}

// A model cannot begin a cascade below itself, however far above it runs; it is told so.
func TestSpawnsNoAncestor(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top.json":   `{"cascade_id": "top", "phases": [{"name": "p", "instructions": "x", "sub_cascades": ["mid.json"]}]}`,
		"mid.json":   `{"cascade_id": "mid", "phases": [{"name": "q", "tool": "spawn_cascade", "inputs": {"cascade": "low"}}]}`,
		"low.json":   `{"cascade_id": "low", "phases": [{"name": "r", "instructions": "low", "tackle": ["spawn_cascade"]}]}`,
		"again.json": `{"cascade_id": "again", "phases": [{"name": "s", "instructions": "x", "sub_cascades": ["low.json"]}]}`,
		"fine.json":  `{"cascade_id": "fine", "phases": [{"name": "s", "instructions": "fine"}]}`,
	}
	for name, want := range map[string]string{
		"top":       `the cascade "top" would run below itself: top -> mid -> low -> top; do the work here, or name another cascade`,
		"mid.json":  `the cascade "mid" would run below itself: mid -> low -> mid; do the work here, or name another cascade`,
		"low":       `the cascade "low" would run below itself: low -> low; do the work here, or name another cascade`,
		"again":     `the cascade "low" would run below itself: low -> again -> low; do the work here, or name another cascade`,
		"fine":      "",
		"fine.json": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			job := treeJob(t, files, "top.json")
			c, found, err := LoadFile(t.Context(), job.File, Known())
			require.NoError(t, err, found)
			op := a.opening(&config.Config{}, RunOptions{NoClickHouse: true}, Watch{})
			op.run.cascade, op.run.header.File = c, job.File
			mid := a.opening(&config.Config{}, RunOptions{NoClickHouse: true}, Watch{})
			of := c.Reaches["mid.json"]
			mid.parent, mid.run.cascade, mid.run.header.File = op, of.Cascade, of.File
			low := a.opening(&config.Config{}, RunOptions{NoClickHouse: true}, Watch{})
			of, err = mid.findCascade(t.Context(), "low")
			require.NoError(t, err)
			low.parent, low.run.cascade, low.run.header.File = mid, of.Cascade, of.File
			got := low.run.children.Find(t.Context(), name)
			require.Equal(t, want, got.Problem)
			require.Equal(t, want == "", got.Cascade != nil)
		})
	}
}

// Who resumes a child alone has its ancestors from their journals.
func TestAncestorsOfAChildAlone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	job := treeJob(t, treeFiles, "top.json")
	r := startTree(t, a, &speaker{}, job)
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	for _, b := range begunBy(a.recording(t, "top").Entries) {
		h := a.recording(t, b.start.Session).Header
		o, err := ReadHeader(h)
		require.NoError(t, err)
		op := a.opening(&config.Config{}, RunOptions{}, Watch{})
		op.run.header, op.run.cascade, op.run.started = h, o.Cascade, o.Started
		list := ancestors(op)
		require.Len(t, list, 2)
		require.Equal(t, ancestorOf(job.Cascade, job.File, ""), list[1])
		require.Contains(t, circle(op, &cascade.Reached{File: job.File, Cascade: job.Cascade}), `the cascade "top" would run below itself: top -> `+o.Cascade.CascadeID+" -> top")
	}
}
