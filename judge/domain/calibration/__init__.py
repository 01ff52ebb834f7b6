"""A judge as an instrument: how far its verdicts on rows are those of people, and what scores are once its error is
taken out. Plain data in, estimates out."""
