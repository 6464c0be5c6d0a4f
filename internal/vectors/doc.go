// Package vectors embeds English texts on this machine, as the weighted mean of word vectors. They
// come from one published npm package, converted into a table in the cache. Unknown words and word
// order count for nothing. A text's vector is
//
//	sum over its words of weight(word) * (vector(word) - mean), brought to length 1
//
// where a word of frequency p weighs a / (a + p), a = 0.001 (smooth inverse frequency; Arora, Liang
// and Ma, 2017). p follows from the rank by Zipf and Mandelbrot: 1 / ((rank + 2.7) * H), times
// 10000 / rank beyond the 10,000th word (the two regimes of Ferrer i Cancho and Sole, 2001); H
// makes the sum 1. The mean is of running text, by the same weights. Within a session, which has a
// subject, subtract its own mean, too.
package vectors
