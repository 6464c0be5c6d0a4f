package mailbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
)

func audibleOf(letter, phase string, at time.Time) mailbox.Audible {
	return mailbox.Audible{Phase: phase, Audible: echo.Audible{Letter: letter, Text: "say " + letter, By: "ada", Via: echo.ViaCommand, At: at}}
}

// TestAudibles: the oldest that is for a phase comes first, each place gets its own, again however often it asks, and nobody else does.
func TestAudibles(t *testing.T) {
	t.Parallel()
	box := mailbox.Audibles{Box: newBox(t)}
	heard, err := box.Hear("p", "p/attempt1/audible1")
	require.NoError(t, err)
	require.Nil(t, heard)
	for i, a := range []mailbox.Audible{audibleOf("c", "", sent.Add(2)), audibleOf("a", "q", sent), audibleOf("b", "p", sent.Add(1))} {
		require.NoError(t, box.Say(a), i)
		require.NoError(t, box.Say(a), "the same is left once")
	}
	other := audibleOf("c", "", sent.Add(9))
	require.NoError(t, box.Say(other), "who says the same later means the same letter")
	other.Text = "else"
	other.By = "bob"
	require.EqualError(t, box.Say(other), "the letter c was left already, and says something else: ada said it (command) at "+sent.Add(2).Local().Format("2006-01-02 15:04:05"))
	hear := func(phase, place string) string {
		a, err := box.Hear(phase, place)
		require.NoError(t, err)
		if a == nil {
			return ""
		}
		return a.Letter
	}
	require.Equal(t, "b", hear("p", "one"))
	require.Equal(t, "b", hear("p", "one"), "a process that died asks again")
	require.Equal(t, "c", hear("p", "two"))
	require.Empty(t, hear("p", "three"))
	require.Equal(t, "a", hear("q", "four"))
	all, err := box.All()
	require.NoError(t, err)
	var list []string
	for _, a := range all {
		list = append(list, a.Letter+" "+a.Taken)
	}
	require.Equal(t, []string{"a four", "b one", "c two"}, list)
	require.NoError(t, box.Forget("b"))
	require.NoError(t, box.Forget("b"))
	require.NoError(t, box.Say(audibleOf("b", "p", sent)))
	require.Equal(t, "b", hear("p", "one"), "it is another one")
	require.Empty(t, box.Damaged())
	require.EqualError(t, box.Say(audibleOf("../x", "", sent)), `"audible-../x.json" is no name of a letter`)
}

// TestAudibleOnce: of many places that ask at the same time each gets another one.
func TestAudibleOnce(t *testing.T) {
	t.Parallel()
	box := mailbox.Audibles{Box: newBox(t)}
	const n = 20
	for i := range n {
		require.NoError(t, box.Say(audibleOf(fmt.Sprintf("l%d", i), "", sent.Add(time.Duration(i)))))
	}
	got := make([]string, 2*n)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			if a, err := box.Hear("p", fmt.Sprint("place ", i)); err == nil && a != nil {
				got[i] = a.Letter
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, letter := range got {
		require.False(t, letter != "" && seen[letter], letter)
		seen[letter] = true
	}
	require.Len(t, seen, n+1, "and nothing for the others")
}

// TestDamagedAudibles: what cannot be read is reported with its file, is told to nobody and hides no other.
func TestDamagedAudibles(t *testing.T) {
	t.Parallel()
	box := mailbox.Audibles{Box: newBox(t)}
	require.NoError(t, box.Say(audibleOf("sound", "", sent)))
	for name, text := range map[string]string{
		"audible-torn.json": `{"letter":"torn"`, "audible-two.json": `{"letter":"two","text":"x","at":"2026-01-01T00:00:00Z"}{}`,
		"audible-mute.json": `{"letter":"mute","text":"","at":"2026-01-01T00:00:00Z"}`, "audible-when.json": `{"letter":"when","text":"x"}`,
		"audible-moved.json": `{"letter":"sound","text":"x","at":"2026-01-01T00:00:00Z"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(box.Dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(box.Dir, "audible-folder.json"), 0o700))
	a, err := box.Hear("p", "one")
	require.NoError(t, err)
	require.Equal(t, "sound", a.Letter)
	a, err = box.Hear("p", "two")
	require.NoError(t, err)
	require.Nil(t, a)
	read := func(name, why string) string { return "read " + filepath.Join(box.Dir, name) + ": " + why }
	require.Equal(t, []string{
		read("audible-folder.json", "it is no letter"), read("audible-moved.json", "it has the letter of another file"), read("audible-mute.json", "it says nothing"),
		read("audible-torn.json", "it is no whole letter: unexpected EOF"), read("audible-two.json", "it has more than one letter"), read("audible-when.json", "it has no time"),
	}, texts(box.Damaged()))
	require.NoError(t, box.Say(audibleOf("late", "", sent)))
	require.NoError(t, os.WriteFile(filepath.Join(box.Dir, "heard-late.json"), nil, 0o600))
	a, err = box.Hear("p", "three")
	require.NoError(t, err)
	require.Nil(t, a, "somebody may have taken it")
}
