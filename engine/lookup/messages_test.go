package lookup

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func words(text string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, text) }

// A fork has the messages from before it, also from before the fork that it was made of, and its own,
// which get numbers of the session when that adopts them.
func TestMessagesOfForks(t *testing.T) {
	t.Parallel()
	s := echo.NewSession("s")
	m := NewMessages(s, nil, nil, time.Now)
	first := s.Begin("first")
	m.Enter(first, words("one"), 1, 1)

	fork := m.Fork(s.Fork(), time.Now)
	visit := fork.Session.Begin("node")
	fork.Enter(visit, words("two"), 1, 1)
	nested := fork.Fork(fork.Session.Fork(), time.Now)
	item := nested.Session.Begin("node")
	nested.Enter(item, words("three"), 1, 1)
	other := fork.Fork(fork.Session.Fork(), time.Now)
	elsewhere := other.Session.Begin("node")
	other.Enter(elsewhere, words("four"), 1, 1)
	nested.Enter(item, words("five"), 1, 2)
	nested.MarkCallout(item, words("five").Hash(), "named")

	texts := func(m *Messages) (list []string) {
		for _, source := range m.searchable("", effect.Site{}) {
			list = append(list, fmt.Sprint(source.Order, source.Message.Text(), source.Callout))
		}
		return list
	}
	require.Equal(t, []string{"1one", "2two", "3three", "4fivenamed"}, texts(nested))
	require.Equal(t, []string{"1one", "2two", "3four"}, texts(other))
	require.Equal(t, "three", nested.Source(&item.History[0]).Message.Text())

	fork.Append(visit, item.History, nested.Left())
	fork.Append(visit, elsewhere.History, other.Left())
	m.Enter(first, words("six"), 1, 2)
	adopted := m.Adopt(visit, fork.Left())
	require.Equal(t, []string{"1one", "2six", "3two", "4three", "5fivenamed", "6four"}, texts(m))
	for i, it := range adopted.History {
		require.Equal(t, i+3, it.Order)
		require.Equal(t, m.Source(&it).Message, it.Message)
	}
}

// What a fork takes does not grow with the messages before it.
func BenchmarkFork(b *testing.B) {
	for _, earlier := range []int{10, 2_000} {
		b.Run(fmt.Sprintf("earlier=%d", earlier), func(b *testing.B) {
			s := echo.NewSession("s")
			m := NewMessages(s, nil, nil, time.Now)
			before := s.Begin("before")
			for range earlier {
				m.Enter(before, words("x"), 1, 1)
			}
			message := words("y")
			b.ReportAllocs()
			for b.Loop() {
				fork := m.Fork(s.Fork(), time.Now)
				fork.Enter(fork.Session.Begin("each"), message, 1, 1)
			}
		})
	}
}
