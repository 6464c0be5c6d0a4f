package archive

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

// TagSums is what the sessions with one tag come to.
type TagSums struct {
	Tag              string    `json:"tag"` // "": the sessions without one
	Sessions         int       `json:"sessions"`
	Completed        int       `json:"completed"`
	Resumable        int       `json:"resumable"`
	NewestAt         time.Time `json:"newest_at"` // when the newest began
	Calls            uint64    `json:"calls"`
	EmbeddingCalls   uint64    `json:"embedding_calls"`
	UnknownCostCalls uint64    `json:"unknown_cost_calls"`
	clickhouse.Tokens
	CostUSD *float64 `json:"cost_usd"` // nil when there are calls and no cost is known
}

// ByTag sums sessions up by their tags, those with the newest session first. A session counts for
// each of its tags.
func ByTag(list []Listed) []TagSums {
	at := map[string]*TagSums{}
	var tags []string
	for i := range list {
		for _, tag := range orNone(list[i].Tags) {
			if at[tag] == nil {
				at[tag], tags = &TagSums{Tag: tag}, append(tags, tag)
			}
			at[tag].add(&list[i])
		}
	}
	sums := make([]TagSums, len(tags))
	for i, tag := range tags {
		sums[i] = *at[tag]
	}
	slices.SortStableFunc(sums, func(a, b TagSums) int { return cmp.Or(b.NewestAt.Compare(a.NewestAt), cmp.Compare(a.Tag, b.Tag)) })
	return sums
}

func orNone(tags []string) []string {
	if len(tags) == 0 {
		return []string{""}
	}
	return tags
}

// SumOf sums sessions up, each once.
func SumOf(list []Listed) TagSums {
	var sum TagSums
	for i := range list {
		sum.add(&list[i])
	}
	return sum
}

func (s *TagSums) add(l *Listed) {
	s.Sessions++
	if l.Status == echo.StatusCompleted.String() {
		s.Completed++
	}
	if l.Resumable {
		s.Resumable++
	}
	if l.StartedAt.After(s.NewestAt) {
		s.NewestAt = l.StartedAt
	}
	s.Calls += l.Calls
	s.EmbeddingCalls += l.EmbeddingCalls
	s.UnknownCostCalls += l.UnknownCostCalls
	s.TokensIn += l.TokensIn
	s.TokensCached += l.TokensCached
	s.TokensOut += l.TokensOut
	if l.CostUSD != nil {
		sum := *l.CostUSD
		if s.CostUSD != nil {
			sum += *s.CostUSD
		}
		sum = record.RoundUSD(sum)
		s.CostUSD = &sum
	}
}
