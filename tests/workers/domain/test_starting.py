from workers.domain.starting import BURST, FEWEST, RATE, Starts


def test_a_burst_then_the_rate():
    starts = Starts()
    assert starts.pause(now=10.0) == 0.0
    assert starts.most == BURST
    starts.take(BURST)
    # nothing is left: the fewest that are worth a turn are there after 8 / 500 s
    assert starts.pause(now=10.0) == FEWEST / RATE == 0.016
    # 10 ms later 5 of them are there, so 3 / 500 s remain
    assert round(starts.pause(now=10.01), 9) == 0.006
    assert starts.pause(now=10.016) == 0.0
    assert starts.most == FEWEST


def test_rest_saves_no_more_than_a_burst():
    starts = Starts()
    starts.pause(now=10.0)
    starts.take(4)
    assert starts.pause(now=4000.0) == 0.0
    assert starts.most == BURST
