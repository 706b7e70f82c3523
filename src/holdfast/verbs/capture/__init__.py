"""Learn from what agents do: the trail, observations, mining, what hooks answer with."""
