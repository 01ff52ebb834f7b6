from workers.domain.rate_limit import BURST, FEWEST, RATE, TokenBucket


def test_a_burst_then_the_rate():
    bucket = TokenBucket()
    assert bucket.pause(now=10.0) == 0.0
    assert bucket.most == BURST
    bucket.take(BURST)
    # nothing is left: the fewest that are worth a turn are there after 8 / 500 s
    assert bucket.pause(now=10.0) == FEWEST / RATE == 0.016
    # 10 ms later 5 of them are there, so 3 / 500 s remain
    assert round(bucket.pause(now=10.01), 9) == 0.006
    assert bucket.pause(now=10.016) == 0.0
    assert bucket.most == FEWEST


def test_rest_saves_no_more_than_a_burst():
    bucket = TokenBucket()
    bucket.pause(now=10.0)
    bucket.take(4)
    assert bucket.pause(now=4000.0) == 0.0
    assert bucket.most == BURST
