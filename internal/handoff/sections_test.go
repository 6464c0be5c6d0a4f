package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestSectionsIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"none":          {"All is well.\nblockers of the pump\n- an item", nil},
		"a list":        {"## Blockers\n- no key\n- [ ] no access\n- [x] no network\n  - below\n\n## Next\n- go", []string{"no key", "no access"}},
		"bold":          {"**Blockers:**\n1. no key\n2) no access", []string{"no key", "no access"}},
		"bold, outside": {"__Blocking issues__:\n* no key", []string{"no key"}},
		"words":         {"Blocked by:\n- no key\nNext steps:\n- go", []string{"no key"}},
		"a paragraph":   {"# Open blockers #\n\nThe key\nis missing.\n\nSo is the door.", []string{"The key is missing.", "So is the door."}},
		"nothing":       {"## Blockers\n- None.\n\n### Blocked\nNothing so far\n\n## Blockers\n(none)", nil},
		"code":          {"## Blockers\n```\n# a comment\n- no item\n```\n- an item", []string{"an item"}},
		"no heading":    {"```\n## Blockers\n```\n- an item", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, sectionsIn(tc.text, blockerTitle))
		})
	}
	require.Equal(t, []string{"use A", "Decision: use B"}, sectionsIn("## Key Decisions\n- use A\n- Decision: use B\n## Blockers\n- C", choiceTitle))
}

func TestBlockedItems(t *testing.T) {
	t.Parallel()
	for item, blocks := range map[string]bool{
		"- [!] fit it": true, "- [ ] BLOCKED: fit it": true, "- [ ] **blocked** fit it": true, "- [ ] fit it (blocked by the seal)": true,
		"- [ ] fit it, blocked on review": true, "- [ ] ⛔ fit it": true, "- [ ] [blocked] fit it": true,
		"- [ ] fit it": false, "- [x] BLOCKED: fit it": false, "- [ ] unblocked the drain": false, "- [ ] make the blocked drain flow": false,
	} {
		list := checklistIn(item)
		require.Len(t, list, 1, item)
		require.Equal(t, blocks, list[0].blocks, item)
	}
}

// TestHandoffNamesWhatBlocks: sections and marks of what blocks and of decisions are found, each once.
func TestHandoffNamesWhatBlocks(t *testing.T) {
	t.Parallel()
	b := &recordBuilder{t: t, cascade: "c"}
	b.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{})
	visit := echo.PhaseKey("fix", 1)
	b.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
	b.message(visit.Step(echo.StepTask), echo.NewText(echo.RoleUser, echo.KindTask, "Fix it."))
	say := func(turn int, text string) {
		b.answer(visit.Attempt(1).Turn(turn), echo.NewText(echo.RoleAssistant, echo.KindAnswer, text))
	}
	say(1, "Decision: **use the old seal**\n\n## Blockers\n- the door is locked")
	say(2, "- [!] order a seal\n- [ ] clean up\n\n## Key Decisions\n- use the old seal.\n- test twice\n\n## Blockers\n- no seal in stock\n- order a seal")
	h, err := Of(b.entries)
	require.NoError(t, err)
	require.Equal(t, []echo.HandoffItem{{Source: "answer", Text: "use the old seal."}, {Source: "answer", Text: "test twice"}}, h.Decisions)
	require.Equal(t, []echo.HandoffItem{{Source: "answer", Text: "no seal in stock"}, {Source: "answer", Text: "order a seal"}}, h.Blocking)
	require.Contains(t, h.Continuation, "Begin with: clean up.")
	require.Equal(t, b.entries[len(b.entries)-1].At.UTC(), h.GeneratedAt)
	require.Contains(t, Markdown(h), "\n- as of: "+timeText(h.GeneratedAt)+"\n")

	say(3, "## Blockers\nNone")
	h, err = Of(b.entries)
	require.NoError(t, err)
	require.Equal(t, []echo.HandoffItem{{Source: "checklist", Text: "order a seal"}}, h.Blocking)
}
