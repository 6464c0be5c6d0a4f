package memo

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSelect chooses among as many memos as a project folder may have.
func BenchmarkSelect(b *testing.B) {
	set := make(Set, MaxMemos)
	for i := range set {
		set[i] = Memo{ID: fmt.Sprint(i), At: time.Unix(int64(i), 0), Text: fmt.Sprintf("Module %d of the harbour closes at low tide, because the crane number %d needs water below it; ask the master of dock %d before you deploy.", i, i%50, i%7), Tags: []string{"gotcha"}}
	}
	for b.Loop() {
		set.Select("What closes the crane at dock 3?", nil)
	}
}
