"""Exact samplers of sums, one a file, and what several of them need; laws in `rai_sim.arms` draw by
them.

Exact means: up to the rounding of doubles and the 2^-53 grain of uniforms; no normal approximation
anywhere. Uniforms and random words come from `rai_sim.engine.streams`. What lives here:

normal            ziggurat with 256 layers
bernoulli         64 lanes decided at once by comparing random bytes with the binary expansion of p
binomial          by size: sequential inversion, transformed rejection, or
nearly_normal     rejection from a normal density with exponential tails
outward           binomials of the same size again and again, by inversion of a table
gamma             gamma and beta variates, by rejection from a cubed normal
poisson           sequential inversion or transformed rejection
hypergeometric    ratio of uniforms (a sum given a later sum)
log_probability   log probabilities in Loader's saddle-point form, for the acceptance tests
bits              counts and masks of lanes in a uint64
"""

from rai_sim.engine.sampling.bernoulli import bernoulli_word as bernoulli_word
from rai_sim.engine.sampling.bernoulli import bernoulli_words as bernoulli_words
from rai_sim.engine.sampling.binomial import binomial as binomial
from rai_sim.engine.sampling.bits import bits_set as bits_set
from rai_sim.engine.sampling.bits import lanes as lanes
from rai_sim.engine.sampling.gamma import beta as beta
from rai_sim.engine.sampling.gamma import gamma as gamma
from rai_sim.engine.sampling.hypergeometric import hypergeometric as hypergeometric
from rai_sim.engine.sampling.log_probability import log_binomial as log_binomial
from rai_sim.engine.sampling.normal import normal as normal
from rai_sim.engine.sampling.poisson import poisson as poisson
