"""What is known about one person: their replies remembered, their style, and how they differ from a model.

The modules predict better the longer a person plays. All state is a fold over the person's judged games
(`engine.person.state`), and each prediction says what it used of the state (`engine.person.prediction`).

`engine.person.draw` and `engine.person.pace` play as people of a rating do.
"""
