package contextcards_test

import (
	"testing"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/contextcards/cardstest"
)

func TestMemoryKeepsTheContractOfStores(t *testing.T) {
	t.Parallel()
	cardstest.Store(t, func(*testing.T) contextcards.Store { return &contextcards.Memory{} })
}
