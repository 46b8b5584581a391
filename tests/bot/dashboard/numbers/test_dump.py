from tests.bot.dashboard.numbers.printed import lines, numbers
async def test_dump(visitor, exported):
    for page in ("/events?days=90","/traps","/works","/games/5", "/games/7"):
        print("=====", page)
        html = await visitor.text("/dash"+page)
        for line in lines(html): print("  ", line[:230])
