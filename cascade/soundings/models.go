package soundings

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Assign returns the model of each candidate, of an adaptive number for the most of them; nil when the
// file names no models. The seed decides at random only, the same one always in the same way.
func (s *Soundings) Assign(seed string) []Model {
	if s == nil || len(s.Models) == 0 {
		return nil
	}
	n := s.Count()
	switch cmp.Or(s.ModelStrategy, RoundRobin) {
	case Random:
		return s.atRandom(seed, n)
	case Weighted:
		return s.byWeight(n)
	default:
		return s.inTurn(n)
	}
}

// inTurn goes round the models, leaving out those that have as many candidates as they get.
func (s *Soundings) inTurn(n int) []Model {
	left := s.shares(n)
	out := make([]Model, 0, n)
	for len(out) < n {
		for i, m := range s.Models {
			if left[i] > 0 {
				out = append(out, m)
				left[i]--
			}
		}
	}
	return out[:n]
}

// shares returns how many candidates each model gets, at least n in all: as many as it says, and of what
// that leaves, those that do not say it one after the other. Where all say it, and it is too few, all
// take part in that.
func (s *Soundings) shares(n int) []int {
	out := make([]int, len(s.Models))
	open := false
	for i, m := range s.Models {
		out[i] = m.Factor
		n -= m.Factor
		open = open || m.Factor == 0
	}
	for n > 0 {
		for i, m := range s.Models {
			if n > 0 && (!open || m.Factor == 0) {
				out[i]++
				n--
			}
		}
	}
	return out
}

// atRandom draws from the models that do not say how many candidates they get, for what the others
// leave, and shuffles all.
func (s *Soundings) atRandom(seed string, n int) []Model {
	var out, free []Model
	for _, m := range s.Models {
		if m.Factor == 0 {
			free = append(free, m)
		}
		for range m.Factor {
			out = append(out, m)
		}
	}
	if len(free) == 0 {
		free = s.Models
	}
	d := draws{seed: seed}
	for len(out) < n {
		out = append(out, free[d.below(len(free))])
	}
	for i := len(out) - 1; i > 0; i-- {
		j := d.below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out[:n]
}

// byWeight gives candidates in proportion to the factors, spread evenly: each time to the model that is
// furthest behind its share, the first of those in the file.
func (s *Soundings) byWeight(n int) []Model {
	total := 0
	for _, m := range s.Models {
		total += max(m.Factor, 1)
	}
	behind := make([]int, len(s.Models))
	out := make([]Model, 0, n)
	for range n {
		for i, m := range s.Models {
			behind[i] += max(m.Factor, 1)
		}
		next := slices.Index(behind, slices.Max(behind))
		behind[next] -= total
		out = append(out, s.Models[next])
	}
	return out
}

// draws are numbers that look random and follow from a seed.
type draws struct {
	seed string
	made int
}

// below returns a number from 0 to n-1, each as likely as the others.
func (d *draws) below(n int) int {
	size := uint64(n) //nolint:gosec // n is a length above zero
	for {
		sum := sha256.Sum256(fmt.Appendf(nil, "models\x00%s\x00%d", d.seed, d.made))
		d.made++
		x := binary.BigEndian.Uint64(sum[:8])
		if x <= math.MaxUint64-(math.MaxUint64%size+1)%size {
			return int(x % size) //nolint:gosec // below n
		}
	}
}
