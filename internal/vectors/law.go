package vectors

import "math"

// law gives a word's frequency by its place, see the package's comment.
type law struct{ total float64 }

const (
	mandelbrot = 2.7   // flattens the law for the few most frequent words
	rare       = 10000 // from this rank on words are rarer than the law of Zipf says
	smoothing  = 1e-3  // a word of this frequency has half the weight of a rare one
)

func newLaw(words int) law {
	n := float64(words)
	// The sum of 1/(rank + 2.7), as an integral.
	common := math.Log((min(n, rare) + 0.5 + mandelbrot) / (0.5 + mandelbrot))
	return law{total: common + max(0, 1-rare/n)}
}

// frequency returns the share of a word in running text, by its place, from 0.
func (l law) frequency(place int) float64 {
	rank := float64(place) + 1
	return min(1, rare/rank) / ((rank + mandelbrot) * l.total)
}

// weightOf returns how much a word of a frequency counts, from 0 to 1.
func weightOf(frequency float64) float64 { return smoothing / (smoothing + frequency) }
